import type { Pdfium } from './open-pdfium.ts';

/** A rectangle in the page's coordinates. The vertical axis points up. Points. */
export interface Box {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

const NUMBER_BYTES = 8;
/** Memory that reading a box needs. */
export const BOX_BYTES = 4 * NUMBER_BYTES;

/** The boxes of a page's characters from `start` to `end`. Characters without a box, such as line ends, are undefined. */
export function readCharBoxes(pdfium: Pdfium, textPage: number, start: number, end: number): (Box | undefined)[] {
  const memory = pdfium.pdfium.wasmExports;
  const at = memory.malloc(BOX_BYTES);
  const boxes: (Box | undefined)[] = [];
  for (let index = start; index < end; index += 1) boxes.push(charBox(pdfium, textPage, index, at));
  memory.free(at);
  return boxes;
}

/** The box of a character, if it has one. @param at pointer to `BOX_BYTES` of memory */
export function charBox(pdfium: Pdfium, textPage: number, index: number, at: number): Box | undefined {
  const [left = 0, right = 0, bottom = 0, top = 0] = [0, 1, 2, 3].map((number) => at + number * NUMBER_BYTES);
  if (!pdfium.FPDFText_GetCharBox(textPage, index, left, right, bottom, top)) return undefined;
  const numberAt = (pointer: number) => pdfium.pdfium.getValue(pointer, 'double');
  const box = { left: numberAt(left), right: numberAt(right), bottom: numberAt(bottom), top: numberAt(top) };
  return box.right > box.left || box.top > box.bottom ? box : undefined;
}
