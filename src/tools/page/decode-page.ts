import { TextDecoder } from 'node:util';
import type { FetchedPage } from './fetch-page.ts';

/** Where a page may name its own encoding (HTML, "prescan a byte stream"). */
const PRESCAN_BYTES = 1_024;

/** A page's text by the encoding that its header or the page itself names; UTF-8 otherwise. */
export function decodePage({ charset, body }: Pick<FetchedPage, 'charset' | 'body'>): string {
  const head = body.subarray(0, PRESCAN_BYTES).toString('latin1');
  const named = charset ?? /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1] ?? 'utf-8';
  return decoderFor(named).decode(body);
}

function decoderFor(name: string): TextDecoder {
  try {
    return new TextDecoder(name);
  } catch {
    return new TextDecoder();
  }
}
