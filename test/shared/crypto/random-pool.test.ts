import { expect, test } from '@jest/globals';
import { freshBytes } from '../../../src/shared/crypto/random-pool.ts';

test('no bytes are given out twice, whatever lengths are drawn', () => {
  const drawn = new Set<string>();
  for (let draw = 0; draw < 5_000; draw += 1) {
    const bytes = freshBytes(12 + (draw % 5));
    expect(bytes).toHaveLength(12 + (draw % 5));
    // The first twelve alone must differ: so many equal ones come by chance in no life time.
    drawn.add(bytes.toString('hex', 0, 12));
  }
  expect(drawn.size).toBe(5_000);
});
