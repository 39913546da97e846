import type { DocumentPicture } from './document.ts';

const MARKS: readonly [RegExp, DocumentPicture['mediaType']][] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
];

/** Detects an image's media type by its first bytes. @returns undefined if the type is not supported */
export function pictureType(bytes: Buffer): DocumentPicture['mediaType'] | undefined {
  const head = bytes.toString('latin1', 0, 12);
  return MARKS.find(([mark]) => mark.test(head))?.[1];
}
