import { describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { noisePicture } from '../../../../support/noise-picture.ts';
import { BOUNDED_PROCESS_ENDS } from '../../../../../src/shared/process/sandboxed-process.ts';
import { DecoderProcess, type DecodeOrder } from '../../../../../src/bot/turn/conversation/images/decoder-process.ts';
import { childRunning, processorTimeMs, SEES_CHILDREN } from '../../../../support/child-processes.ts';
import { untilTrue } from '../../../../support/deployment.ts';

/** Takes a decoder long; and to make, so that it is made once. */
let largeOrder: Promise<DecodeOrder> | undefined;

async function orderOf(width: number, height: number): Promise<DecodeOrder> {
  const bytes = await noisePicture(width, height).png().toBuffer();
  const sizes = { mostPixels: 25_000_000, longestSide: 2_048, mostBytes: 600_000 };
  return { bytes, mediaType: 'image/png', ...sizes, jpegSteps: [{ longestSide: 768, quality: 50 }] };
}

/** The decoder that this process has started; other tests of this file have ended theirs. */
function decoderId(): number {
  const id = childRunning('decoder.mjs');
  // Zero would mean this process and all its group.
  if (id === undefined) throw new Error('There is no decoder');
  return id;
}

/** So that the next test sees its own alone. One that was too slow for its time beside other work has ended already. */
function endDecoder(): void {
  const id = childRunning('decoder.mjs');
  if (id !== undefined) process.kill(id, 'SIGKILL');
}

/** Much more than the way of an order to the decoder takes, and much less than decoding a large image. */
const AT_WORK_MS = 200;

/** One of them that starts may take longer than its time where others want the processor too. */
async function untilDecoded(decoder: DecoderProcess): Promise<void> {
  const small = await orderOf(30, 20);
  const decoded = async () => (await decoder.decode(small)).mediaType;
  await untilTrue(async () => (await decoded().catch(() => '')) === 'image/png', 20_000);
}

/** Decodes an image and does this to the decoder once it was at work for so long. */
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

describeWhereSeen('a decoder that an image breaks', () => {
  test.each(['SIGKILL', 'SIGSEGV'] as const)(
    'ends by %s: that image is decoded by a new one, and so is the next [reader-killed]',
    async (signal) => {
      const decoder = new DecoderProcess();
      expect(await decodeWhile(decoder, signal, AT_WORK_MS)).toMatchObject({ mediaType: 'image/jpeg' });
      expect((await decoder.decode(await orderOf(30, 20))).mediaType).toBe('image/png');
      endDecoder();
    },
    30_000,
  );

  test('ends twice: that image is refused by a fault of ours, which is told each time [reader-killed]', async () => {
    const ends: unknown[] = [];
    const hear = (end: unknown) => ends.push(end);
    subscribe(BOUNDED_PROCESS_ENDS, hear);
    const decoder = new DecoderProcess();
    const decoding = decodeWhile(decoder, 'SIGKILL', AT_WORK_MS);
    await untilTrue(() => ends.length === 1, 20_000);
    await untilTrue(() => childRunning('decoder.mjs') !== undefined);
    process.kill(decoderId(), 'SIGKILL');
    expect(await decoding).toMatchObject({ code: 'not_read' });
    unsubscribe(BOUNDED_PROCESS_ENDS, hear);
    expect(ends).toEqual(
      [true, false].map((isTriedAgain) => ({ program: 'images', exitCode: null, signal: 'SIGKILL', isTriedAgain })),
    );
  }, 30_000);

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'is told %s with all its group, as by Ctrl+C: the answer that waits for its image still gets it',
    async (signal) => {
      const decoder = new DecoderProcess();
      // Afterwards it is ended for its size.
      expect(await decodeWhile(decoder, signal, AT_WORK_MS)).toMatchObject({ mediaType: 'image/jpeg' });
    },
    30_000,
  );

  test('hangs: it is ended when its time is over, that image is refused as too heavy, and the next one is decoded', async () => {
    const decoder = new DecoderProcess(1_000);
    expect(await decodeWhile(decoder, 'SIGSTOP', 0)).toMatchObject({ code: 'too_heavy' });
    await untilDecoded(decoder);
    endDecoder();
  }, 30_000);

  test('ends while it has nothing to do: the next image is decoded all the same, when its pipe still took it, too', async () => {
    const decoder = new DecoderProcess();
    await decoder.decode(await orderOf(20, 20));
    const next = await orderOf(30, 20);
    process.kill(decoderId(), 'SIGKILL');
    // At once, before this process has noticed.
    expect((await decoder.decode(next)).mediaType).toBe('image/png');
    // Stopped, its pipe surely takes the order; and then it ends.
    process.kill(decoderId(), 'SIGSTOP');
    const decoding = decoder.decode(next);
    process.kill(decoderId(), 'SIGKILL');
    expect((await decoding).mediaType).toBe('image/png');
    endDecoder();
  }, 30_000);
});

describeWhereSeen('a decoder', () => {
  test('stays for the next image after a small one, and is ended after a large one, whose memory it would keep', async () => {
    const decoder = new DecoderProcess();
    await untilDecoded(decoder);
    const id = decoderId();
    await decoder.decode(await orderOf(300, 200));
    expect(decoderId()).toBe(id);
    await decoder.decode(await (largeOrder ??= orderOf(2_400, 2_400)));
    await untilTrue(() => childRunning('decoder.mjs') === undefined);
  }, 30_000);
});
