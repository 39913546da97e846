import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createOtlpTracer, type OtlpTracer } from '../../src/shared/tracing/otlp-tracer.ts';
import {
  bindSpan,
  describeSpan,
  inSpan,
  inStep,
  isTracing,
  recordSpan,
  traceparent,
  useTracer,
  withoutSpan,
} from '../../src/shared/tracing/tracing.ts';
import { CodedError } from '../../src/shared/coded-error.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { tries } from '../support/tries.ts';
import { untilTrue } from '../support/until-true.ts';

let collector: OtlpReceiver;
let tracer: OtlpTracer;
let failures: number;
beforeEach(async () => {
  collector = await startOtlpReceiver();
  failures = 0;
  start({});
});
afterEach(async () => {
  useTracer(undefined);
  await tracer.close();
  await collector.stop();
});

function start(variables: Record<string, string>): void {
  tracer = createOtlpTracer({
    variables: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables },
    resource: { 'service.name': 'tested' },
    onExportFailed: () => (failures += 1),
  });
  useTracer(tracer);
}

async function exported(): Promise<Record<string, ReceivedSpan>> {
  await tracer.close();
  return Object.fromEntries(collector.spans.map((span) => [span.name, span]));
}

describe('a span', () => {
  test('of work that throws has the code or the name of the error, and never its message [traces-without-content]', async () => {
    const failing = (name: string, error: unknown) => inSpan(name, {}, () => Promise.reject(error as Error));
    await expect(failing('coded', new CodedError('chat_timeout', 'words of Ann'))).rejects.toThrow('words of Ann');
    await expect(failing('plain', new TypeError('words of Ann'))).rejects.toThrow('words of Ann');
    await expect(failing('none', 'words of Ann')).rejects.toBe('words of Ann');
    const spans = await exported();
    expect(Object.values(spans).map(({ name, isError, attributes }) => [name, isError, attributes])).toEqual([
      ['coded', true, { 'error.type': 'chat_timeout' }],
      ['plain', true, { 'error.type': 'TypeError' }],
      ['none', true, { 'error.type': 'string' }],
    ]);
    expect(collector.bytes().toString('latin1')).not.toContain('Ann');
  });

  test('contains the steps that are made in it, also by callbacks of a connection that another span opened', async () => {
    let ofConnection: (() => Promise<void>) | undefined;
    await inSpan('opens', {}, async () => {
      ofConnection = bindSpan(() => inStep('callback of opens', async () => undefined));
    });
    await inSpan('uses', {}, async () => {
      await ofConnection?.();
      await inStep('step', async () => describeSpan({ 'parley.messages': 2, 'parley.platform': undefined }));
      await withoutSpan(() => inStep('of others', async () => undefined));
      await withoutSpan(() => inSpan('background', {}, async () => undefined));
    });
    const spans = await exported();
    expect(spans['callback of opens']?.parentId).toBe(spans['opens']?.spanId);
    expect(spans['step']?.parentId).toBe(spans['uses']?.spanId);
    expect(spans['step']?.attributes).toEqual({ 'parley.messages': 2 });
    expect(spans['of others']).toBeUndefined();
    expect(spans['background']?.parentId).toBe('');
    expect(spans['background']?.traceId).not.toBe(spans['uses']?.traceId);
  });

  test('continues the trace of another process, with its times and links', async () => {
    const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const link = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
    recordSpan('wait', { parent, startedAtMs: 1_700_000_000_000, endedAtMs: 1_700_000_000_250 });
    await inSpan('turn', { parent, links: [link, 'no traceparent'] }, async () => {
      expect(traceparent()).toMatch(new RegExp(`^00-a{32}-[0-9a-f]{16}-01$`));
    });
    const { wait, turn } = await exported();
    expect(wait).toMatchObject({ traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), startMs: 1_700_000_000_000 });
    expect((wait?.endMs ?? 0) - (wait?.startMs ?? 0)).toBeCloseTo(250, 1);
    expect(turn).toMatchObject({ parentId: 'b'.repeat(16), links: [{ traceId: 'c'.repeat(32) }] });
  });

  test('begins a trace of its own where the stored traceparent is not one', async () => {
    const anything = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('0', 'a', '-', 'f'), maxLength: 60 }));
    await fc.assert(
      fc.asyncProperty(anything, async (parent) => {
        await inSpan('turn', { parent, links: [parent] }, async () =>
          expect(traceparent()).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/),
        );
      }),
      { numRuns: tries(200) },
    );
  });
});

test('spans beyond the queue of the exporter are dropped while the collector does not answer, and the end is in time', async () => {
  await collector.stop();
  collector = await startOtlpReceiver('silent');
  start({
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
  });
  for (let count = 0; count < 1_000; count += 1) await inSpan('many', {}, async () => undefined);
  await untilTrue(() => collector.spans.length > 0);
  const startedMs = performance.now();
  await tracer.close();
  // Two seconds, and the rest for a busy machine.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(process.env['OTEL_BSP_MAX_QUEUE_SIZE']).toBeUndefined();
  // One batch on its way, and one in the queue.
  expect(collector.spans.length).toBeLessThanOrEqual(20);
});

test('a refused batch is reported', async () => {
  await collector.stop();
  collector = await startOtlpReceiver(400);
  start({});
  await inSpan('refused', {}, async () => undefined);
  await tracer.close();
  expect(failures).toBe(1);
});

test('without a tracer nothing is created: work runs as it is, and functions stay unbound', async () => {
  useTracer(undefined);
  const call = () => undefined;
  expect([isTracing(), traceparent(), bindSpan(call) === call]).toEqual([false, undefined, true]);
  const promise = Promise.resolve(7);
  const spans: unknown[] = [];
  expect(inStep('step', () => promise)).toBe(promise);
  for (const name of ['one', 'other']) await inSpan(name, {}, async (span) => void spans.push(span));
  expect(spans[0]).toBe(spans[1]);
  expect(await exported()).toEqual({});
});
