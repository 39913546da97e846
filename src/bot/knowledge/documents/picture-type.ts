import type { DocumentPicture } from './document.ts';

const MARKS: readonly [RegExp, DocumentPicture['mediaType']][] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
];

/** Of what kind a picture is, by its first bytes; undefined for one that nobody here can show. */
export function pictureType(bytes: Buffer): DocumentPicture['mediaType'] | undefined {
  const head = bytes.toString('latin1', 0, 12);
  return MARKS.find(([mark]) => mark.test(head))?.[1];
}
