import type { Annotation } from './annotations.ts';
import { readCharBoxes, type Box } from './char-boxes.ts';
import type { Pdfium } from './open-pdfium.ts';
import { letterOf } from './page-lines.ts';

/** Per page. */
const MAX_CHARS = 20_000;

/**
 * The text that a page shows inside of each annotation.
 * @param textPage of the page after its annotations became a part of its content
 * @param ownChars number of characters that the page had before
 */
export function readShownTexts(
  pdfium: Pdfium,
  textPage: number,
  ownChars: number,
  annotations: readonly Annotation[],
): string[] {
  const end = Math.min(pdfium.FPDFText_CountChars(textPage), ownChars + MAX_CHARS);
  const boxes = readCharBoxes(pdfium, textPage, ownChars, end);
  const shown = annotations.map(() => '');
  // Annotations are drawn in their order, so the search begins at the last one found.
  let last = 0;
  for (const [index, box] of boxes.entries()) {
    const letter = letterOf(pdfium.FPDFText_GetUnicode(textPage, ownChars + index));
    if (box) last = findFrom(annotations, last, box) ?? last;
    const text = shown[last];
    // White space has no reliable box: it belongs to the text before it.
    if (text !== undefined && text.length < MAX_CHARS) shown[last] = text + letter;
  }
  return shown.map((text) => text.replace(/\r/g, '').trim());
}

function findFrom(
  annotations: readonly Annotation[],
  start: number,
  { left, right, bottom, top }: Box,
): number | undefined {
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  for (let count = 0; count < annotations.length; count += 1) {
    const index = (start + count) % annotations.length;
    const box = annotations[index]?.box;
    if (box && x >= box.left && x <= box.right && y >= box.bottom && y <= box.top) return index;
  }
  return undefined;
}
