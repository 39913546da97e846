import type { Pdfium } from './open-pdfium.ts';

/** A wider gap separates two table cells rather than two words. */
const CELL_GAP_FONT_SIZES = 1.1;
/** Per page. A dense page has 10,000. */
const MAX_CHARS = 400_000;
const BOX_NUMBERS = 4;
const NUMBER_BYTES = 8;
/** Markers that PDFium leaves where a word is hyphenated at a line end. */
const DIVISIONS = ['\u0002', '\ufffe'];

const POINT = /^([•‣●○▪■◦·–—*-]|\(?[0-9a-z]{1,3}[.)、])$/i;

/** A line of a page, split into cells at wide gaps. Most lines have one cell. */
export type Line = string[];

/** Reads the lines of a page in content order. */
export function readLines(pdfium: Pdfium, textPage: number): Line[] {
  const count = Math.min(pdfium.FPDFText_CountChars(textPage), MAX_CHARS);
  const box = pdfium.pdfium.wasmExports.malloc(BOX_NUMBERS * NUMBER_BYTES);
  const lines: Line[] = [];
  let line: Line = [''];
  let lastShown = -1;
  let hasGap = false;
  const write = (text: string) => (line[line.length - 1] = (line.at(-1) ?? '') + text);
  const endLine = () => {
    lines.push(withoutPoint(line.map((cell) => cell.trim()).filter((cell) => cell !== '')));
    line = [''];
    lastShown = -1;
    hasGap = false;
  };
  try {
    for (let at = 0; at < count; at += 1) {
      const letter = letterOf(pdfium.FPDFText_GetUnicode(textPage, at));
      if (letter === '\r' || letter === '' || DIVISIONS.includes(letter)) continue;
      if (letter === '\n') endLine();
      else if (letter.trim() === '') {
        hasGap = lastShown >= 0;
        write(' ');
      } else {
        if (hasGap && isWide(pdfium, { textPage, before: lastShown, after: at, box })) line.push('');
        write(letter);
        lastShown = at;
        hasGap = false;
      }
    }
  } finally {
    pdfium.pdfium.wasmExports.free(box);
  }
  endLine();
  return lines;
}

/** The gap after a bullet or list number does not start a new cell. */
function withoutPoint(line: Line): Line {
  const [first = '', second, ...others] = line;
  return second !== undefined && POINT.test(first) ? [`${first} ${second}`, ...others] : line;
}

function letterOf(code: number): string {
  if (code === 0 || code > 0x10ffff) return '';
  return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
}

interface Gap {
  textPage: number;
  /** Indexes of the characters on both sides. */
  before: number;
  after: number;
  /** Pointer to memory for four numbers. */
  box: number;
}

function isWide(pdfium: Pdfium, { textPage, before, after, box }: Gap): boolean {
  const sides = (at: number): [left: number, right: number] | undefined => {
    const [left = 0, right = 0, bottom = 0, top = 0] = [0, 1, 2, 3].map((index) => box + index * NUMBER_BYTES);
    if (!pdfium.FPDFText_GetCharBox(textPage, at, left, right, bottom, top)) return undefined;
    return [pdfium.pdfium.getValue(left, 'double'), pdfium.pdfium.getValue(right, 'double')];
  };
  const [one, other] = [sides(before), sides(after)];
  if (!one || !other) return false;
  const size = pdfium.FPDFText_GetFontSize(textPage, before);
  return other[0] - one[1] > Math.max(size, 4) * CELL_GAP_FONT_SIZES;
}
