import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
const pool = Buffer.alloc(POOL_BYTES);
let nextAt = POOL_BYTES;

/**
 * Random bytes that were never returned before, as a view of a pool. Callers must use them immediately, because the pool is
 * refilled. Bytes are drawn in bulk because one draw costs as much as sealing a message.
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
