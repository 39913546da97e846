import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readPieces } from '../../src/chat/read-pieces.ts';

const tick = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

/** A body that is read; `told` is what was handed on: pieces, then how it ended. */
async function openBody(): Promise<{ body: Readable; told: string[] }> {
  const body = new Readable({ read: () => undefined });
  const told: string[] = [];
  readPieces(body, {
    onBytes: (bytes) => void told.push(String(bytes)),
    onEnd: (cause) => void told.push(cause ? `broken: ${cause.message}` : 'whole'),
  });
  await tick();
  return { body, told };
}

test('what comes at once is handed on in one piece, without waiting for more', async () => {
  const { body, told } = await openBody();
  body.push(Buffer.from('a'));
  body.push(Buffer.from('b'));
  await tick();
  body.push(Buffer.from('c'));
  await tick();
  expect(told).toEqual(['ab', 'c']);
  body.push(null);
  await tick();
  expect(told).toEqual(['ab', 'c', 'whole']);
});

test('a close without an error is a break too', async () => {
  const { body, told } = await openBody();
  body.destroy();
  await tick();
  expect(told).toEqual(['broken: The connection was closed']);
});

test('security.md 5.4: whatever arrived before a break is handed on before it, in order, and the end is told once and last', async () => {
  const steps = fc.array(fc.oneof(fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }), fc.constant(undefined)));
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom('whole', 'broken', 'closed'), async (pieces, ending) => {
      const { body, told } = await openBody();
      for (const piece of pieces) {
        if (piece === undefined) await tick();
        else body.push(Buffer.from(piece));
      }
      if (ending === 'whole') body.push(null);
      else body.destroy(ending === 'broken' ? new Error('reset') : undefined);
      await tick();
      await tick();
      const end =
        ending === 'whole' ? 'whole' : ending === 'broken' ? 'broken: reset' : 'broken: The connection was closed';
      expect(told.at(-1)).toBe(end);
      expect(told.slice(0, -1).join('')).toBe(pieces.join(''));
    }),
  );
});
