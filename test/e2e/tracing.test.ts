import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, countedStream, helloStream, sse, streamOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

// Real processes that export to a real OTLP/HTTP receiver.

const deployment = useSlackDeployment();
let collector: OtlpReceiver;
beforeEach(async () => {
  collector = await startOtlpReceiver();
});
afterEach(() => collector.stop());

const HEADER_KEY = 'collector-key-0123456789';
const env = (more: Record<string, string> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${HEADER_KEY}`,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  ...more,
});
const QUESTION = 'What is the time in the walled garden?';
const ANSWER = 'It is teatime among the hollyhocks.';

const callOf = (...names: string[]) => {
  const call = { type: 'function', function: { arguments: '{"timeZone":"Asia/Tokyo"}' } };
  const calls = names.map((name, index) => ({ ...call, index, id: `c${index}`, function: { ...call.function, name } }));
  return chunk({ tool_calls: calls }, 'tool_calls');
};
/** Streams words one by one until the caller disconnects. */
const slowly =
  (words: readonly string[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of words) {
      if (response.destroyed) return;
      response.write(chunk({ content: word }));
      await sleep(150);
    }
    response.end(chunk({}, 'stop') + sse('[DONE]'));
  };
const named = (name: string): ReceivedSpan[] => collector.spans.filter((span) => span.name === name);
const one = (name: string): ReceivedSpan => {
  const [span] = named(name);
  if (span === undefined) throw new Error(`No span ${name} among ${collector.spans.map((each) => each.name).join()}`);
  return span;
};
const parentOf = (span: ReceivedSpan) => collector.spans.find(({ spanId }) => spanId === span.parentId)?.name;

describe('a traced message', () => {
  test('has one connected trace from the delivery to the commit, through receiver, worker and engine', async () => {
    deployment.chat.script(streamOf(callOf('current_time')), countedStream(ANSWER, 120, 9));
    await deployment.startProcess({ ...env(), ROLES: 'receiver' });
    await deployment.startProcess({ ...env({ OTEL_SERVICE_NAME: 'parley-worker' }), ROLES: 'worker' });
    await deployment.sender.direct('U1', QUESTION);
    await deployment.untilShown('DU1', [ANSWER], 20_000);
    await untilTrue(() => named('turn').length === 1 && named('receive').length === 1);

    const { traceId } = one('receive');
    const ofTrace = collector.spans.filter((span) => span.traceId === traceId);
    const ids = new Set(ofTrace.map(({ spanId }) => spanId));
    expect(ofTrace.filter(({ parentId }) => !ids.has(parentId)).map(({ name }) => name)).toEqual(['receive']);
    const parents = Object.fromEntries(ofTrace.map((span) => [span.name, parentOf(span)]));
    expect(parents).toMatchObject({
      receive: undefined,
      accept: 'receive',
      'redis.accept': 'accept',
      'wait in queue': 'accept',
      claim: 'accept',
      turn: 'accept',
      'sign-in gate': 'turn',
      prompt: 'turn',
      'chat svc-plus': 'turn',
      'execute_tool current_time': 'turn',
      commit: 'turn',
      'redis.commit': 'commit',
    });
    const writes = ofTrace.filter(({ name }) => name.startsWith('slack.chat.'));
    expect(new Set(writes.map(parentOf))).toEqual(new Set(['turn']));
    expect(ofTrace.filter(({ isError }) => isError)).toEqual([]);

    const calls = named('chat svc-plus');
    expect(calls.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'gen_ai.response.finish_reasons': ['tool_calls'], 'parley.outcome': 'complete' }),
      expect.objectContaining({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'svc-plus',
        'gen_ai.usage.input_tokens': 120,
        'gen_ai.usage.output_tokens': 9,
        'gen_ai.response.finish_reasons': ['stop'],
        'server.address': '127.0.0.1',
      }),
    ]);
    // The engine can continue the trace below the call.
    expect(deployment.chat.calls.map(({ headers }) => headers['traceparent'])).toEqual(
      calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    );
    expect(one('execute_tool current_time').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'current_time',
      'parley.outcome': 'done',
    });
    expect(one('receive').attributes).toMatchObject({ 'parley.platform': 'slack', 'parley.outcome': 'accepted' });
    expect(one('turn').attributes).toMatchObject({ 'parley.outcome': 'answered', 'parley.crashes': 0 });
    // The `trace` of the log lines finds the spans.
    expect(one('turn').attributes['parley.delivery']).toBe(deployment.chat.calls[0]?.requestId);
    expect(one('receive').resource).toMatchObject({ 'service.name': 'parley' });
    expect(one('turn').resource).toMatchObject({ 'service.name': 'parley-worker' });
    const wait = one('wait in queue');
    expect(wait.endMs).toBeGreaterThanOrEqual(wait.startMs);
    expect(one('claim').startMs).toBeGreaterThanOrEqual(wait.endMs - 1);
    expect(new Set(collector.headers('x-collector-key'))).toEqual(new Set([HEADER_KEY]));
  }, 60_000);

  test('exports no message text, token, key, or id of a person or chat [traces-without-content]', async () => {
    const invented = 'tool_that_nobody_declared';
    deployment.chat.script(
      streamOf(chunk({ content: 'Wait.' }), callOf('current_time', invented)),
      countedStream(ANSWER, 120, 9),
    );
    await deployment.startBot(env());
    await deployment.sender.direct('U1SECRETLY', QUESTION);
    await untilTrue(() => deployment.textsIn('DU1SECRETLY').some((text) => text.endsWith(ANSWER)));
    await deployment.stopBots();
    expect(named('turn')).toHaveLength(1);
    const { env: settings } = deployment;
    const secrets = ['CHAT_API_KEY', 'SECRET_KEY', 'SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET'].map(
      (name) => settings[name] as string,
    );
    const bytes = collector.bytes().toString('latin1');
    expect(one('execute_tool current_time').attributes).toMatchObject({ 'parley.outcome': 'done' });
    expect(one('execute_tool unknown').attributes).toMatchObject({ 'parley.outcome': 'refused' });
    const hidden = [QUESTION, ANSWER, 'hollyhocks', 'Wait.', 'Asia/Tokyo', invented, 'U1SECRETLY', HEADER_KEY];
    for (const text of [...hidden, ...secrets]) expect(bytes).not.toContain(text);
  }, 60_000);

  test('continues its trace in another worker when its worker is killed', async () => {
    const words = ['one ', 'two ', 'three ', 'four ', 'five ', 'six ', 'seven ', 'eight'];
    deployment.chat.script(slowly(words));
    await deployment.startProcess({ ...env(), ROLES: 'receiver' });
    const first = await deployment.startProcess({ ...env({ OTEL_SERVICE_NAME: 'first' }), ROLES: 'worker' });
    await deployment.sender.direct('U1', QUESTION);
    await untilTrue(() => deployment.textsIn('DU1').length === 1 && named('claim').length === 1);
    first.kill('SIGKILL');
    await first.ended;
    await deployment.startProcess({ ...env({ OTEL_SERVICE_NAME: 'second' }), ROLES: 'worker' });
    await deployment.untilShown('DU1', [words.join('')], 40_000);
    await untilTrue(() => named('turn').length === 1);
    expect(named('claim').map(({ resource }) => resource['service.name'])).toEqual(['first', 'second']);
    const turn = one('turn');
    expect(turn.resource['service.name']).toBe('second');
    expect(turn.attributes).toMatchObject({ 'parley.crashes': 1, 'parley.outcome': 'answered' });
    const joined = [...named('claim'), turn, one('commit'), one('accept')].map(({ traceId }) => traceId);
    expect(new Set(joined)).toEqual(new Set([one('receive').traceId]));
  }, 90_000);

  test('of several merged into one turn is linked from the turn, and turns on one connection keep their own steps', async () => {
    deployment.chat.script(slowly(['first', ' answer']), slowly(['Bo', 'th.']));
    await deployment.startProcess(env());
    await deployment.sender.direct('U1', 'Hold the line');
    await untilTrue(() => deployment.chat.calls.length === 1);
    await deployment.sender.direct('U1', 'Second');
    await deployment.sender.direct('U1', 'Third');
    await deployment.untilShown('DU1', ['first answer', 'Both.'], 20_000);
    await untilTrue(() => named('turn').length === 2);
    const [, second, third] = named('accept').sort((a, b) => a.startMs - b.startMs);
    const merged = named('turn').find(({ attributes }) => attributes['parley.messages'] === 2);
    expect(merged?.parentId).toBe(third?.spanId);
    expect(merged?.links).toEqual([{ traceId: second?.traceId, spanId: second?.spanId }]);
    // The second call of the model uses the connection of the first one.
    expect(new Set(deployment.chat.calls.map(({ connection }) => connection)).size).toBe(1);
    const first = named('turn').find((turn) => turn !== merged);
    const late = collector.spans.filter((span) => span.traceId === first?.traceId && span.startMs > first.endMs);
    expect(late.map(({ name }) => name)).toEqual([]);
    const writes = collector.spans.filter(({ name }) => name.startsWith('slack.chat.'));
    expect(writes.length).toBeGreaterThan(2);
    expect(new Set(writes.map(parentOf))).toEqual(new Set(['turn']));
  }, 60_000);
});

describe('the exporter', () => {
  test.each([
    ['refuses all spans', 400],
    ['cannot be reached', undefined],
  ])(
    'disturbs neither an answer nor a stop while the collector %s [collector-away]',
    async (_why, status) => {
      await collector.stop();
      if (status !== undefined) collector = await startOtlpReceiver(status);
      deployment.chat.script(helloStream('Hello.'));
      const bot = await deployment.startProcess(env());
      await deployment.sender.direct('U1', QUESTION);
      await deployment.untilShown('DU1', ['Hello.'], 20_000);
      // An unreachable collector is tried again first.
      if (status !== undefined) await untilTrue(() => bot.output().includes('traces could not be exported'));
      const stoppedMs = performance.now();
      bot.kill('SIGTERM');
      expect(await bot.ended).toBe(0);
      // Two seconds for the last spans, and the rest for a busy machine.
      expect(performance.now() - stoppedMs).toBeLessThan(15_000);
      expect(bot.output()).not.toContain(HEADER_KEY);
    },
    60_000,
  );

  test('sends the last spans at a stop', async () => {
    deployment.chat.script(helloStream('Hello.'));
    const bot = await deployment.startProcess(env({ OTEL_BSP_SCHEDULE_DELAY: '600000' }));
    await deployment.sender.direct('U1', QUESTION);
    await deployment.untilShown('DU1', ['Hello.'], 20_000);
    expect(collector.spans).toEqual([]);
    bot.kill('SIGTERM');
    await bot.ended;
    expect(named('commit')).toHaveLength(1);
  }, 60_000);

  test('honours the sampler: with always_off nothing is exported, and the engine learns it', async () => {
    deployment.chat.script(helloStream('Hello.'));
    const bot = await deployment.startProcess(env({ OTEL_TRACES_SAMPLER: 'always_off' }));
    await deployment.sender.direct('U1', QUESTION);
    await deployment.untilShown('DU1', ['Hello.'], 20_000);
    bot.kill('SIGTERM');
    await bot.ended;
    expect(collector.spans).toEqual([]);
    expect(deployment.chat.calls[0]?.headers['traceparent']).toMatch(/-00$/);
  }, 60_000);
});

test.each([
  ['is loaded with OTEL_EXPORTER_OTLP_ENDPOINT', true],
  ['is not loaded without OTEL_EXPORTER_OTLP_ENDPOINT, and no request has a traceparent', false],
])(
  'the OpenTelemetry SDK %s',
  async (_title, isOn) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-scripts-'));
    try {
      deployment.chat.script(helloStream('Hello.'));
      // Node lists all scripts that it has loaded.
      const bot = await deployment.startProcess({ ...(isOn ? env() : {}), NODE_V8_COVERAGE: folder });
      await deployment.sender.direct('U1', QUESTION);
      await deployment.untilShown('DU1', ['Hello.'], 20_000);
      bot.kill('SIGTERM');
      await bot.ended;
      const scripts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
      expect(scripts.some((text) => /"url":"[^"]*\/start-command-[^"]*"/.test(text))).toBe(true);
      expect(scripts.some((text) => /"url":"[^"]*\/otlp-tracer-[^"]*"/.test(text))).toBe(isOn);
      expect(deployment.chat.calls[0]?.headers['traceparent'] !== undefined).toBe(isOn);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);
