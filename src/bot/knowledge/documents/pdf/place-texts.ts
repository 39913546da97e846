import type { AnnotationPlace } from './annotations.ts';
import type { Box } from './char-boxes.ts';

/** A text and the box for which a place in the page's text is sought. */
export interface PlacedText {
  text: string;
  box: Box;
  place: AnnotationPlace;
}

/** Texts with their places in the content of a page. */
export interface PlacedTexts {
  /** By the index of the character before which they belong, in reading order. */
  before: ReadonlyMap<number, readonly PlacedText[]>;
  /** Texts without other text near them, in their own order. They follow the page's text. */
  rest: readonly PlacedText[];
}

/** A label is at most this far from its field. Points. */
const MAX_GAP_BESIDE = 200;
const MAX_GAP_ABOVE = 24;
const MAX_GAP_OF_TICK = 24;
/** Gap between two labels in one line, relative to the height of a character. */
const LABEL_GAP_HEIGHTS = 1.2;
/** A label above may end a little to the left of its field. Points. */
const ABOVE_TOLERANCE = 6;
/** Letters of one line differ in height by less than this. Points. */
const LINE_TOLERANCE = 4;

/**
 * Finds the place of each text in a page, so that a label and its value are read together: behind the label to the left,
 * else behind the label above, else before the label to the right. A tick box belongs to the nearest label of its line. A comment
 * follows the words that it is about.
 * @param boxes of the page's characters, in content order
 */
export function placeTexts(texts: readonly PlacedText[], boxes: readonly (Box | undefined)[]): PlacedTexts {
  const before = new Map<number, PlacedText[]>();
  const rest: PlacedText[] = [];
  for (const text of texts) {
    const at = placeOf(text, boxes);
    const others = at === undefined ? rest : before.get(at);
    if (others) others.push(text);
    else if (at !== undefined) before.set(at, [text]);
  }
  for (const others of before.values()) others.sort((one, other) => one.box.left - other.box.left);
  return { before, rest };
}

interface Nearest {
  index: number;
  gap: number;
}

function placeOf({ box, place }: PlacedText, boxes: readonly (Box | undefined)[]): number | undefined {
  const from = place === 'comment' ? box.right : box.left;
  let left: Nearest | undefined;
  let right: Nearest | undefined;
  let above: Nearest | undefined;
  for (const [index, letter] of boxes.entries()) {
    if (!letter) continue;
    const middle = (letter.left + letter.right) / 2;
    if (isSameLine(letter, box)) {
      if (middle < from) left = nearer(left, { index, gap: from - letter.right });
      else if (middle > box.right) right = nearer(right, { index, gap: letter.left - box.right });
    } else if (letter.bottom >= box.top - 1 && middle >= box.left - ABOVE_TOLERANCE && middle <= box.right)
      // Of the nearest line, the last letter above the box.
      above = lower(above, { index, gap: letter.bottom - box.top });
  }
  if (place === 'tick') {
    const [before, behind] = [left?.gap ?? Infinity, right?.gap ?? Infinity];
    if (right && behind <= MAX_GAP_OF_TICK && behind <= before) return right.index;
    if (left && before <= MAX_GAP_OF_TICK) return left.index + 1;
  }
  if (left && place === 'comment') return endOfLabel(left.index, boxes);
  if (left && left.gap <= MAX_GAP_BESIDE) return left.index + 1;
  if (above && above.gap <= MAX_GAP_ABOVE) return endOfLabel(above.index, boxes);
  if (right && right.gap <= MAX_GAP_BESIDE) return right.index;
  return left ? left.index + 1 : undefined;
}

function isSameLine(letter: Box, box: Box): boolean {
  const overlap = Math.min(letter.top, box.top) - Math.max(letter.bottom, box.bottom);
  return overlap > Math.min(letter.top - letter.bottom, box.top - box.bottom) / 2;
}

function nearer(one: Nearest | undefined, other: Nearest): Nearest {
  return one && one.gap <= other.gap ? one : other;
}

function lower(one: Nearest | undefined, other: Nearest): Nearest {
  if (!one || other.gap < one.gap - LINE_TOLERANCE) return other;
  return other.gap > one.gap + LINE_TOLERANCE ? one : { index: other.index, gap: Math.min(one.gap, other.gap) };
}

/** The index behind the words that continue from a letter. */
function endOfLabel(start: number, boxes: readonly (Box | undefined)[]): number {
  let last = start;
  for (let at = start + 1; at < boxes.length; at += 1) {
    const [one, next] = [boxes[last], boxes[at]];
    // A blank that PDFium adds has no box.
    if (!one || !next) continue;
    const height = Math.max(one.top - one.bottom, next.top - next.bottom);
    const isNear = next.left >= one.left && next.left - one.right <= height * LABEL_GAP_HEIGHTS;
    if (!isNear || !isSameLine(next, one)) break;
    last = at;
  }
  return last + 1;
}
