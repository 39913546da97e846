import { hasAnnotations, readAnnotations, type Annotation } from './annotations.ts';
import { readCharBoxes, type Box } from './char-boxes.ts';
import type { Pdfium } from './open-pdfium.ts';
import { readLines, type Line, letterOf } from './page-lines.ts';
import { placeTexts, type PlacedTexts } from './place-texts.ts';
import { markdownTable } from '../text/markdown-table.ts';

/** FLAT_NORMALDISPLAY: what a screen shows. */
const AS_SHOWN = 0;
/** A page with less text is treated as a scan that contains at most a page number. */
const SCAN_CHARS = 16;
/** Of a page with annotations. Annotations behind more text follow the page's text. */
const MAX_PLACED_CHARS = 20_000;

export interface PdfPage {
  /** Handle of the page as shown, with its annotations. */
  page: number;
  /** Whether the page shows something, but has hardly any text below its annotations. */
  isScan: boolean;
  /** The text with form values and annotations. */
  text: string;
}

/** Reads the pages of a PDF. Form values are read through PDFium's form environment, which has no script engine. */
export class PdfPages {
  readonly #pdfium: Pdfium;
  readonly #document: number;
  /** Handles of the form environment and of its description. Opened for the first page with annotations. */
  #form: { handle: number; info: number } | undefined;

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium;
    this.#document = document;
  }

  close(): void {
    if (!this.#form) return;
    this.#pdfium.PDFiumExt_ExitFormFillEnvironment(this.#form.handle);
    this.#pdfium.PDFiumExt_CloseFormFillInfo(this.#form.info);
  }

  /** @param use gets the page, whose handle is closed afterwards; not called if the page cannot be opened */
  read(index: number, use: (page: PdfPage) => void): void {
    const page = this.#pdfium.FPDF_LoadPage(this.#document, index);
    if (page === 0) return;
    const textPage = this.#pdfium.FPDFText_LoadPage(page);
    try {
      if (hasAnnotations(this.#pdfium, page)) this.#readAnnotated(index, { page, textPage }, use);
      else {
        const text = this.#write(textPage);
        use({ page, text, isScan: this.#isScan(text, page) });
      }
    } finally {
      if (textPage !== 0) this.#pdfium.FPDFText_ClosePage(textPage);
      this.#pdfium.FPDF_ClosePage(page);
    }
  }

  /** Makes the annotations a part of the page's content, so that PDFium extracts the text that they show. */
  #readAnnotated(index: number, own: { page: number; textPage: number }, use: (page: PdfPage) => void): void {
    const pdfium = this.#pdfium;
    const form = this.#openForm();
    // Draws the fields whose appearance the PDF leaves to its reader.
    pdfium.FORM_OnAfterLoadPage(own.page, form);
    const annotations = readAnnotations(pdfium, form, own.page);
    const ownChars = own.textPage === 0 ? 0 : pdfium.FPDFText_CountChars(own.textPage);
    pdfium.FPDFPage_Flatten(own.page, AS_SHOWN);
    pdfium.FORM_OnBeforeClosePage(own.page, form);
    const page = pdfium.FPDF_LoadPage(this.#document, index);
    if (page === 0) return;
    const textPage = pdfium.FPDFText_LoadPage(page);
    try {
      const shown = textPage === 0 ? [] : readShownTexts(pdfium, textPage, ownChars, annotations);
      const texts = annotations.map(({ write, ...place }, at) => ({ ...place, text: write(shown[at] ?? '') }));
      const boxes =
        own.textPage === 0 ? [] : readCharBoxes(pdfium, own.textPage, 0, Math.min(ownChars, MAX_PLACED_CHARS));
      const placed = placeTexts(
        texts.filter(({ text }) => text !== ''),
        boxes,
      );
      const text = this.#write(own.textPage, placed);
      const isScan = this.#isScan(this.#write(own.textPage), own.page) || this.#isScan(text, page);
      use({ page, text, isScan });
    } finally {
      if (textPage !== 0) pdfium.FPDFText_ClosePage(textPage);
      pdfium.FPDF_ClosePage(page);
    }
  }

  #isScan(text: string, page: number): boolean {
    return text.length < SCAN_CHARS && this.#pdfium.FPDFPage_CountObjects(page) > 0;
  }

  #write(textPage: number, placed?: PlacedTexts): string {
    const lines =
      textPage === 0 ? (placed?.rest ?? []).map(({ text }) => [text]) : readLines(this.#pdfium, textPage, placed);
    return writePage(lines).trim();
  }

  #openForm(): number {
    if (!this.#form) {
      const info = this.#pdfium.PDFiumExt_OpenFormFillInfo();
      this.#form = { info, handle: this.#pdfium.PDFiumExt_InitFormFillEnvironment(this.#document, info) };
    }
    return this.#form.handle;
  }
}

/** Longer cells are text columns, not table cells. */
const LONG_CELL_CHARS = 60;

/** Writes the lines of a page. Consecutive lines with the same number of cells become a table. */
function writePage(lines: readonly Line[]): string {
  const pieces: string[] = [];
  for (let at = 0; at < lines.length;) {
    const end = endOfTable(lines, at);
    if (end - at >= 2) {
      pieces.push(`\n${markdownTable(lines.slice(at, end))}\n`);
      at = end;
    } else {
      pieces.push((lines[at] ?? []).join('   '));
      at += 1;
    }
  }
  return pieces.join('\n').replace(/\n{3,}/g, '\n\n');
}

function endOfTable(lines: readonly Line[], start: number): number {
  const width = lines[start]?.length ?? 0;
  if (width < 2) return start;
  let end = start;
  while (lines[end]?.length === width && isRow(lines[end] ?? [])) end += 1;
  return end;
}

function isRow(line: Line): boolean {
  return line.reduce((sum, { length }) => sum + length, 0) <= LONG_CELL_CHARS * line.length;
}

/** Per page. */
const MAX_CHARS = 20_000;

/**
 * The text that a page shows inside of each annotation.
 * @param textPage of the page after its annotations became a part of its content
 * @param ownChars number of characters that the page had before
 */
function readShownTexts(
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
