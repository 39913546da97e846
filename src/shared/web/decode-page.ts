import { decodeBytes } from '../text/decode-bytes.ts';
import type { FetchedPage } from './fetch-page.ts';

/** Number of bytes in which a page may declare its encoding (HTML, "prescan a byte stream"). */
const PRESCAN_BYTES = 1_024;

/** Decodes a page with the encoding that its header or the page declares; UTF-8 by default. */
export function decodePage(page: Pick<FetchedPage, 'charset' | 'body'>): string {
  try {
    return decodeBytes(page.body, charsetOf(page));
  } catch {
    return decodeBytes(page.body);
  }
}

/** The encoding that a page's header or the page declares, supported or not. */
export function charsetOf({ charset, body }: Pick<FetchedPage, 'charset' | 'body'>): string | undefined {
  const head = body.subarray(0, PRESCAN_BYTES).toString('latin1');
  return charset ?? /<meta[^>]{0,200}charset\s*=\s*(?:["']\s*)?([\w:.-]{1,40})/i.exec(head)?.[1];
}
