import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { randomToken, sha256Hex } from '../../../shared/crypto/ids.ts';
import { MAX_HEAD_BYTES } from './page-kinds.ts';

/** Metadata of a stored page. */
const headSchema = z.object({
  format: z.literal(1),
  /** Final address after redirects. */
  url: z.string(),
  mediaType: z.string(),
  charset: z.string().optional(),
  /** Date of the page, `YYYY-MM-DD`. */
  date: z.string().optional(),
});

export type PageHead = Omit<z.output<typeof headSchema>, 'format'>;

export interface StoredPage {
  head: PageHead;
  body: Buffer;
}

/** File names of stored pages. */
export const PAGE_NAME = /^[0-9a-f]{32}\.page$/;
const NAME_CHARS = 32;
const TOKEN_BYTES = 12;
/** Suffix of incomplete files. */
export const BESIDE_ENDING = '.new';

/** The file name of a page, by its address in the sitemap. */
export function pageName(address: string): string {
  return sha256Hex(address).slice(0, NAME_CHARS) + '.page';
}

/**
 * Stores a page unchanged for the index: a line of JSON, then the bytes. The write is atomic.
 * @returns its size on disk in bytes
 * @throws the system's error
 */
export async function storePage(
  folder: string,
  name: string,
  { head, body }: { head: PageHead; body: readonly Buffer[] },
): Promise<number> {
  const bytes = [Buffer.from(`${JSON.stringify({ format: 1, ...head })}\n`), ...body];
  // The index ignores dotfiles.
  const beside = join(folder, `.${randomToken(TOKEN_BYTES)}${BESIDE_ENDING}`);
  try {
    await writeFile(beside, bytes, { mode: 0o600, flag: 'wx' });
    await rename(beside, join(folder, name));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return bytes.reduce((sum, { length }) => sum + length, 0);
}

/** @returns undefined if the file was not written by `keepPage` */
export function parseStoredPage(bytes: Buffer): StoredPage | undefined {
  const end = bytes.subarray(0, MAX_HEAD_BYTES).indexOf('\n');
  if (end < 0) return undefined;
  try {
    const { format: _, ...head } = headSchema.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    return { head, body: bytes.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
