import { expect, test } from '@jest/globals';
import { freshBytes } from '../../../src/shared/crypto/random-pool.ts';

test('no bytes are returned twice, for any requested lengths', () => {
  const drawn = new Set<string>();
  for (let draw = 0; draw < 5_000; draw += 1) {
    const bytes = freshBytes(12 + (draw % 5));
    expect(bytes).toHaveLength(12 + (draw % 5));
    // The first twelve must differ: an equal pair by chance is practically impossible.
    drawn.add(bytes.toString('hex', 0, 12));
  }
  expect(drawn.size).toBe(5_000);
});
