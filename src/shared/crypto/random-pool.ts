import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
const pool = Buffer.alloc(POOL_BYTES);
let nextAt = POOL_BYTES;

/**
 * So many random bytes that were never given out before, for what is written down at once: they are a view of a pool, which is filled
 * anew when it is used up. Drawn many at once, since a draw costs as much as sealing a message.
 * @param bytes at most 4,096
 */
export function freshBytes(bytes: number): Buffer {
  if (nextAt + bytes > POOL_BYTES) {
    randomFillSync(pool);
    nextAt = 0;
  }
  const fresh = pool.subarray(nextAt, nextAt + bytes);
  nextAt += bytes;
  return fresh;
}
