import type { ImagePlace } from './history.ts';

export type PromptPart = { type: 'text'; text: string } | { type: 'image'; dataUrl: string };

/** An image with its position in a text. */
export interface PlacedImage {
  /** `data:<media type>;base64,<data>` */
  dataUrl: string;
  place: ImagePlace;
}

export function textPart(text: string): PromptPart {
  return { type: 'text', text };
}

/** The quoted images, in order. */
export function quotedParts(images: readonly PlacedImage[]): PromptPart[] {
  return images.flatMap(({ dataUrl, place }) => (place === 'quote' ? [{ type: 'image' as const, dataUrl }] : []));
}

/** A text with its images in their original order, without the quoted images. */
export function saidParts(text: string, images: readonly PlacedImage[]): PromptPart[] {
  const parts: PromptPart[] = [];
  let written = 0;
  for (const { dataUrl, place } of images) {
    if (place === 'quote') continue;
    parts.push(textPart(text.slice(written, place)), { type: 'image', dataUrl });
    written = Math.max(written, place);
  }
  return [...parts, textPart(text.slice(written))];
}

/** Message content from parts: adjacent texts are joined, empty ones dropped, and text alone becomes a string. */
export function contentOf(parts: readonly PromptPart[]): string | PromptPart[] {
  const joined: PromptPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text') joined.splice(-1, 1, textPart(last.text + part.text));
    else joined.push(part);
  }
  const spoken = joined
    .map((part) => (part.type === 'text' ? textPart(withoutBorders(part.text)) : part))
    .filter((part) => part.type !== 'text' || part.text !== '');
  const [only] = spoken;
  if (only === undefined) return '';
  return spoken.length === 1 && only.type === 'text' ? only.text : spoken;
}

/** Removes line breaks next to an image, which only separated parts of the text. */
function withoutBorders(text: string): string {
  let [from, to] = [0, text.length];
  while (text[from] === '\n') from += 1;
  while (to > from && text[to - 1] === '\n') to -= 1;
  return text.slice(from, to);
}
