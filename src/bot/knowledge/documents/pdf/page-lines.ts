import { BOX_BYTES, charBox } from './char-boxes.ts';
import type { Pdfium } from './open-pdfium.ts';
import type { PlacedTexts } from './place-texts.ts';

/** A wider gap separates two table cells rather than two words. */
const CELL_GAP_FONT_SIZES = 1.1;
/** Per page. A dense page has 10,000. */
const MAX_CHARS = 400_000;
/** Markers that PDFium leaves where a word is hyphenated at a line end. */
const DIVISIONS = ['\u0002', '\ufffe'];

const POINT = /^([•‣●○▪■◦·–—*-]|\(?[0-9a-z]{1,3}[.)、])$/i;

/** A line of a page, split into cells at wide gaps. Most lines have one cell. */
export type Line = string[];

/** Reads the lines of a page in content order. @param placed texts of its form fields and annotations */
export function readLines(pdfium: Pdfium, textPage: number, placed?: PlacedTexts): Line[] {
  const count = Math.min(pdfium.FPDFText_CountChars(textPage), MAX_CHARS);
  const box = pdfium.pdfium.wasmExports.malloc(BOX_BYTES);
  const lines: Line[] = [];
  let line: Line = [''];
  let lastShown = -1;
  let hasGap = false;
  const write = (text: string) => (line[line.length - 1] = (line.at(-1) ?? '') + text);
  const blank = () => {
    if (line.at(-1)?.endsWith(' ') !== true) write(' ');
  };
  const endLine = () => {
    lines.push(withoutPoint(line.map((cell) => cell.trim()).filter((cell) => cell !== '')));
    line = [''];
    lastShown = -1;
    hasGap = false;
  };
  const writePlaced = (at: number) => {
    for (const { text, place } of placed?.before.get(at) ?? []) {
      if (place === 'field') line.push(text, '');
      else {
        blank();
        write(text);
        blank();
      }
      lastShown = -1;
    }
  };
  try {
    for (let at = 0; at < count; at += 1) {
      writePlaced(at);
      const letter = letterOf(pdfium.FPDFText_GetUnicode(textPage, at));
      if (letter === '\r' || letter === '' || DIVISIONS.includes(letter)) continue;
      if (letter === '\n') endLine();
      else if (letter.trim() === '') {
        hasGap = lastShown >= 0;
        blank();
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
  writePlaced(count);
  endLine();
  return [...lines, ...(placed?.rest ?? []).map(({ text }) => [text])];
}

/** The gap after a bullet or list number does not start a new cell. */
function withoutPoint(line: Line): Line {
  const [first = '', second, ...others] = line;
  return second !== undefined && POINT.test(first) ? [`${first} ${second}`, ...others] : line;
}

/** A character by its code; empty if there is none. */
export function letterOf(code: number): string {
  if (code === 0 || code > 0x10ffff) return '';
  return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
}

interface Gap {
  textPage: number;
  /** Indexes of the characters on both sides. */
  before: number;
  after: number;
  /** Pointer to `BOX_BYTES` of memory. */
  box: number;
}

function isWide(pdfium: Pdfium, { textPage, before, after, box }: Gap): boolean {
  const [one, other] = [charBox(pdfium, textPage, before, box), charBox(pdfium, textPage, after, box)];
  if (!one || !other) return false;
  const size = pdfium.FPDFText_GetFontSize(textPage, before);
  return other.left - one.right > Math.max(size, 4) * CELL_GAP_FONT_SIZES;
}
