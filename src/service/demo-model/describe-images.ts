import { imageSize } from 'image-size';
import { KIB_BYTES, MIB_BYTES } from '../../shared/clock.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import type { Finding } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/**
 * Total for the beginnings of all images of a message. Some formats are searched byte by byte for their size, which takes 0.2 s
 * per MiB.
 */
const MAX_SEARCHED_BYTES = MIB_BYTES;
const NAMES: Readonly<Record<string, string>> = { jpg: 'JPEG', webp: 'WebP', svg: 'SVG' };

/** Describes type and pixel size of each image in a message; undefined if there is none. URLs are never opened. */
export function describeImages(urls: string[], language: Language): Finding | undefined {
  if (urls.length === 0) return undefined;
  const headBytes = Math.floor(MAX_SEARCHED_BYTES / urls.length);
  const described = urls.map((url) => describe(url, headBytes, language));
  const text =
    described.length === 1
      ? localize(BUILT_IN_TEXTS.oneImage, language, { what: described[0] ?? '' })
      : localize(BUILT_IN_TEXTS.manyImages, language, {
          count: described.length,
          list: described.map((what, index) => `${index + 1}. ${what}`).join('\n'),
        });
  return { text, thought: localize(BUILT_IN_TEXTS.thoughtImage, language, { count: urls.length }) };
}

function describe(url: string, headBytes: number, language: Language): string {
  if (!/^data:/i.test(url)) return localize(BUILT_IN_TEXTS.imageElsewhere, language);
  const base64 = url.slice(url.indexOf(',') + 1);
  try {
    // In its own memory: the library reads past the end of a short view, into whatever lies beside it.
    const head = Buffer.alloc(Math.min(headBytes, Buffer.byteLength(base64, 'base64')));
    const { width, height, type = '' } = imageSize(head.subarray(0, head.write(base64, 'base64')));
    // Some formats have no magic number, so the library accepts almost any bytes for them, without a size.
    if (!(width > 0 && height > 0)) return localize(BUILT_IN_TEXTS.imageUnreadable, language);
    return localize(BUILT_IN_TEXTS.image, language, {
      type: NAMES[type] ?? type.toUpperCase(),
      width,
      height,
      size: readableSize(Buffer.byteLength(base64, 'base64')),
    });
  } catch {
    return localize(BUILT_IN_TEXTS.imageUnreadable, language);
  }
}

function readableSize(bytes: number): string {
  return bytes < KIB_BYTES ? `${bytes} B` : `${Math.round(bytes / KIB_BYTES)} KiB`;
}
