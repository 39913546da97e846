import type { ReadDocument } from '../document.ts';
import { Gathering } from '../text-collector.ts';
import { decodeText } from '../text/decode-text.ts';

/** Reads plain text unchanged. */
export async function readPlainText(bytes: Buffer): Promise<ReadDocument> {
  const gathering = new Gathering();
  gathering.add(decodeText(bytes));
  return gathering.result();
}
