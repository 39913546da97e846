import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { PieceQueue } from '../../src/chat/piece-queue.ts';

async function openQueue(): Promise<{ body: Readable; queue: PieceQueue }> {
  const body = new Readable({ read: () => undefined });
  const queue = new PieceQueue(body);
  await new Promise((resolve) => setImmediate(resolve));
  return { body, queue };
}

const tick = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test('what arrived before a break is handed out, then the break', async () => {
  const { body, queue } = await openQueue();
  body.push(Buffer.from('a'));
  body.push(Buffer.from('b'));
  body.destroy(new Error('broken'));
  await tick();
  expect(String(await queue.next())).toBe('ab');
  await expect(queue.next()).rejects.toThrow('broken');
});

test('a waiting reader is woken by bytes, by the end and by a close without an error', async () => {
  const { body, queue } = await openQueue();
  const first = queue.next();
  body.push(Buffer.from('a'));
  expect(String(await first)).toBe('a');
  const last = queue.next();
  body.push(null);
  expect(await last).toBeUndefined();
  const closed = await openQueue();
  const never = closed.queue.next();
  closed.body.destroy();
  await expect(never).rejects.toThrow('closed');
});

test('the service is made to wait while nobody reads, and goes on afterwards', async () => {
  const { body, queue } = await openQueue();
  body.push(Buffer.alloc(300_000));
  expect(body.isPaused()).toBe(true);
  expect((await queue.next())?.length).toBe(300_000);
  expect(body.isPaused()).toBe(false);
});

test('discarding reads to the end and keeps nothing', async () => {
  const { body, queue } = await openQueue();
  body.push(Buffer.from('a'));
  const done = queue.discard();
  body.push(Buffer.alloc(300_000));
  expect(body.isPaused()).toBe(false);
  body.push(null);
  await done;
  expect(await queue.next()).toBeUndefined();
});
