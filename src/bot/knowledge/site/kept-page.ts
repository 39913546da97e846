import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { randomToken, sha256Hex } from '../../../shared/crypto/ids.ts';
import { MOST_HEAD_BYTES } from './page-kinds.ts';

/** What is told of a page beside its bytes. */
const headSchema = z.object({
  format: z.literal(1),
  /** Where it was found. */
  url: z.string(),
  mediaType: z.string(),
  charset: z.string().optional(),
  /** The day to which it goes back, `YYYY-MM-DD`. */
  date: z.string().optional(),
});

export type PageHead = Omit<z.output<typeof headSchema>, 'format'>;

export interface KeptPage {
  head: PageHead;
  body: Buffer;
}

/** What else lies there is no page. */
export const PAGE_NAME = /^[0-9a-f]{32}\.page$/;
const NAME_CHARS = 32;
const TOKEN_BYTES = 12;
/** What was not finished ends so. */
export const BESIDE_ENDING = '.new';

/** The file of the page that a sitemap has under this address. */
export function pageName(address: string): string {
  return sha256Hex(address).slice(0, NAME_CHARS) + '.page';
}

/**
 * Keeps a page as it came, for the index to read: a line of JSON, then the bytes. It stands there whole or not at all.
 * @returns how many bytes it has on disk @throws the system's error
 */
export async function keepPage(
  folder: string,
  name: string,
  { head, body }: { head: PageHead; body: readonly Buffer[] },
): Promise<number> {
  const bytes = [Buffer.from(`${JSON.stringify({ format: 1, ...head })}\n`), ...body];
  // The index leaves out what begins with a dot.
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

/** @returns undefined for what was not written by us */
export function openKeptPage(bytes: Buffer): KeptPage | undefined {
  const end = bytes.subarray(0, MOST_HEAD_BYTES).indexOf('\n');
  if (end < 0) return undefined;
  try {
    const { format: _, ...head } = headSchema.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    return { head, body: bytes.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
