import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads a whole file. Follows no symbolic links and does not block on special files such as pipes.
 * @returns undefined if it is not a regular file, has grown beyond the limit or was deleted
 */
export function readWholeFile(path: string, maxBytes: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, length);
    return bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}
