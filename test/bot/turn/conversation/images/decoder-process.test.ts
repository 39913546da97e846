import { describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { noisePicture } from '../../../../support/noise-picture.ts';
import { SANDBOXED_PROCESS_EXITS } from '../../../../../src/shared/process/sandboxed-process.ts';
import { DecoderProcess, type DecodeOrder } from '../../../../../src/bot/turn/conversation/images/decoder-process.ts';
import { childRunning, processorTimeMs, SEES_CHILDREN } from '../../../../support/child-processes.ts';
import { untilTrue } from '../../../../support/deployment.ts';

/** An order that takes the decoder long. Creating it takes long as well, so it is created once. */
let largeOrder: Promise<DecodeOrder> | undefined;

async function orderOf(width: number, height: number): Promise<DecodeOrder> {
  const bytes = await noisePicture(width, height).png().toBuffer();
  const sizes = { maxPixels: 25_000_000, maxSide: 2_048, maxBytes: 600_000 };
  return { bytes, mediaType: 'image/png', ...sizes, jpegSteps: [{ maxSide: 768, quality: 50 }] };
}

/** The process id of the decoder that this process has started; earlier tests have ended theirs. */
function decoderId(): number {
  const id = childRunning('decoder.mjs');
  // Zero would signal this process and its whole group.
  if (id === undefined) throw new Error('There is no decoder');
  return id;
}

/** Leaves no decoder for the next test. A decoder that exceeded its time limit on a busy machine has ended already. */
function endDecoder(): void {
  const id = childRunning('decoder.mjs');
  if (id !== undefined) process.kill(id, 'SIGKILL');
}

/** Much more than the transfer of an order to the decoder takes, and much less than decoding a large image. */
const AT_WORK_MS = 200;

/** Retries, because a starting decoder may exceed its time limit on a busy machine. */
async function untilDecoded(decoder: DecoderProcess): Promise<void> {
  const small = await orderOf(30, 20);
  const decoded = async () => (await decoder.decode(small)).mediaType;
  await untilTrue(async () => (await decoded().catch(() => '')) === 'image/png', 20_000);
}

/** Decodes an image and sends `signal` to the decoder once it has worked for `atWorkMs`. */
async function decodeWhile(decoder: DecoderProcess, signal: NodeJS.Signals, atWorkMs: number): Promise<unknown> {
  const order = await (largeOrder ??= orderOf(2_400, 2_400));
  await untilDecoded(decoder);
  const id = decoderId();
  const beforeMs = processorTimeMs(id);
  const decoding = decoder.decode(order).catch((error: unknown) => error);
  await untilTrue(() => processorTimeMs(id) >= beforeMs + atWorkMs);
  process.kill(id, signal);
  return decoding;
}

const describeWhereSeen = SEES_CHILDREN ? describe : describe.skip;

describeWhereSeen('a failing decoder', () => {
  test.each(['SIGKILL', 'SIGSEGV'] as const)(
    'is replaced after %s, and its image and the next one are decoded [reader-killed]',
    async (signal) => {
      const decoder = new DecoderProcess();
      expect(await decodeWhile(decoder, signal, AT_WORK_MS)).toMatchObject({ mediaType: 'image/jpeg' });
      expect((await decoder.decode(await orderOf(30, 20))).mediaType).toBe('image/png');
      endDecoder();
    },
    60_000,
  );

  test('refuses its image as not_read after it died twice, and each death is reported [reader-killed]', async () => {
    const ends: unknown[] = [];
    const hear = (end: unknown) => ends.push(end);
    subscribe(SANDBOXED_PROCESS_EXITS, hear);
    const decoder = new DecoderProcess();
    const decoding = decodeWhile(decoder, 'SIGKILL', AT_WORK_MS);
    await untilTrue(() => ends.length === 1, 20_000);
    await untilTrue(() => childRunning('decoder.mjs') !== undefined);
    process.kill(decoderId(), 'SIGKILL');
    expect(await decoding).toMatchObject({ code: 'not_read' });
    unsubscribe(SANDBOXED_PROCESS_EXITS, hear);
    expect(ends).toEqual(
      [true, false].map((isTriedAgain) => ({ program: 'images', exitCode: null, signal: 'SIGKILL', isTriedAgain })),
    );
  }, 60_000);

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'still decodes its image after %s to the whole process group, as by Ctrl+C',
    async (signal) => {
      const decoder = new DecoderProcess();
      // Afterwards it is ended because of its size.
      expect(await decodeWhile(decoder, signal, AT_WORK_MS)).toMatchObject({ mediaType: 'image/jpeg' });
    },
    60_000,
  );

  test('is ended at its time limit when it hangs; its image is refused as too heavy, and the next one is decoded', async () => {
    // Long enough for a decoder to start beside the other tests.
    const decoder = new DecoderProcess(4_000);
    expect(await decodeWhile(decoder, 'SIGSTOP', 0)).toMatchObject({ code: 'too_heavy' });
    await untilDecoded(decoder);
    endDecoder();
  }, 60_000);

  test('is replaced when it died while idle, even when its pipe still accepted the next image', async () => {
    const decoder = new DecoderProcess();
    await decoder.decode(await orderOf(20, 20));
    const next = await orderOf(30, 20);
    process.kill(decoderId(), 'SIGKILL');
    // At once, before this process has noticed.
    expect((await decoder.decode(next)).mediaType).toBe('image/png');
    // While it is stopped, its pipe certainly accepts the order; then it is killed.
    process.kill(decoderId(), 'SIGSTOP');
    const decoding = decoder.decode(next);
    process.kill(decoderId(), 'SIGKILL');
    expect((await decoding).mediaType).toBe('image/png');
    endDecoder();
  }, 60_000);
});

describeWhereSeen('an idle decoder', () => {
  test('is kept for the next image after a small one, and ended after a large one to free its memory', async () => {
    const decoder = new DecoderProcess();
    await untilDecoded(decoder);
    const id = decoderId();
    await decoder.decode(await orderOf(300, 200));
    expect(decoderId()).toBe(id);
    await decoder.decode(await (largeOrder ??= orderOf(2_400, 2_400)));
    await untilTrue(() => childRunning('decoder.mjs') === undefined);
  }, 60_000);
});
