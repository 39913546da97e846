import { imageSize } from 'image-size';
import { KIB_BYTES } from '../../shared/clock.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import type { Finding } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

const NAMES: Readonly<Record<string, string>> = { jpg: 'JPEG', webp: 'WebP', svg: 'SVG' };

/** Describes type and pixel size of each image in a message; undefined if there is none. URLs are never opened. */
export function describeImages(urls: string[], language: Language): Finding | undefined {
  if (urls.length === 0) return undefined;
  const described = urls.map((url) => describe(url, language));
  const text =
    described.length === 1
      ? localize(BUILT_IN_TEXTS.oneImage, language, { what: described[0] ?? '' })
      : localize(BUILT_IN_TEXTS.manyImages, language, {
          count: described.length,
          list: described.map((what, index) => `${index + 1}. ${what}`).join('\n'),
        });
  return { text, thought: localize(BUILT_IN_TEXTS.thoughtImage, language, { count: urls.length }) };
}

function describe(url: string, language: Language): string {
  if (!/^data:/i.test(url)) return localize(BUILT_IN_TEXTS.imageElsewhere, language);
  try {
    // A copy with its own memory: the library reads past the end of a short view, into whatever lies beside it.
    const bytes = Uint8Array.from(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'));
    const { width, height, type = '' } = imageSize(bytes);
    // Some formats have no magic number, so the library accepts almost any bytes for them, without a size.
    if (!(width > 0 && height > 0)) return localize(BUILT_IN_TEXTS.imageUnreadable, language);
    return localize(BUILT_IN_TEXTS.image, language, {
      type: NAMES[type] ?? type.toUpperCase(),
      width,
      height,
      size: readableSize(bytes.length),
    });
  } catch {
    return localize(BUILT_IN_TEXTS.imageUnreadable, language);
  }
}

function readableSize(bytes: number): string {
  return bytes < KIB_BYTES ? `${bytes} B` : `${Math.round(bytes / KIB_BYTES)} KiB`;
}
