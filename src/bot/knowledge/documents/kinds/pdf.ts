import { brokenDocument, DocumentError, type ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { drawPage } from '../pdf/draw-page.ts';
import { forgetPdfium, openPdfium, type Pdfium } from '../pdf/open-pdfium.ts';
import { readLines } from '../pdf/page-lines.ts';
import { writePage } from '../pdf/page-text.ts';

const NEEDS_PASSWORD = 4;
const UNKNOWN_SECURITY = 5;
/** A page with less text is treated as a scan that contains at most a page number. */
const SCAN_CHARS = 16;
const MAX_TITLE_BYTES = 1_024;

/**
 * Reads a PDF page by page. Pages without text are rendered as images for the model. Nothing in the PDF is executed. A PDF
 * that opens without a password is read regardless of its permission flags.
 */
export async function readPdf(bytes: Buffer): Promise<ReadDocument> {
  const pdfium = await openPdfium();
  const memory = pdfium.pdfium.wasmExports;
  const gathering = new TextCollector();
  let pageCount: number | undefined;
  let title: string | undefined;
  try {
    const start = memory.malloc(bytes.length);
    if (start === 0) throw new DocumentError('too_heavy', 'There is not enough memory for the PDF');
    pdfium.pdfium.HEAPU8.set(bytes, start);
    const document = pdfium.FPDF_LoadMemDocument(start, bytes.length, '');
    if (document === 0) throw refusal(pdfium.FPDF_GetLastError());
    title = readTitle(pdfium, document);
    const count = (pageCount = pdfium.FPDF_GetPageCount(document));
    for (let page = 0; page < count; page += 1) {
      if (page > 0 && gathering.isFull) {
        gathering.cut(`page ${page}`);
        break;
      }
      readPage(pdfium, document, page, gathering);
    }
    pdfium.FPDF_CloseDocument(document);
    memory.free(start);
  } catch (error) {
    // Discards the PDFium instance together with all open handles.
    forgetPdfium();
    if (error instanceof DocumentError) throw error;
    const so = gathering.result();
    if (so.parts.length === 0 && so.pictures.length === 0) throw faultOf(error);
    gathering.cut();
  }
  return gathering.result({ title, pageCount });
}

function refusal(code: number): DocumentError {
  if (code === NEEDS_PASSWORD || code === UNKNOWN_SECURITY)
    return new DocumentError('encrypted', 'The PDF requires a password');
  return brokenDocument('The PDF cannot be opened');
}

/** PDFium reports memory exhaustion only in the error message. */
function faultOf(error: unknown): DocumentError {
  const words = error instanceof Error ? error.message : '';
  return /memory|OOM|alloc/i.test(words)
    ? new DocumentError('too_heavy', 'The PDF takes too much memory', { cause: error })
    : brokenDocument('The PDF crashed its reader', error);
}

function readPage(pdfium: Pdfium, document: number, index: number, gathering: TextCollector): void {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return;
  try {
    const label = `page ${index + 1}`;
    const textPage = pdfium.FPDFText_LoadPage(page);
    const text = textPage === 0 ? '' : writePage(readLines(pdfium, textPage)).trim();
    if (textPage !== 0) pdfium.FPDFText_ClosePage(textPage);
    gathering.add(text, label);
    const isScan = text.length < SCAN_CHARS && pdfium.FPDFPage_CountObjects(page) > 0;
    if (!isScan || !gathering.wantsPictures) return;
    const bytes = drawPage(pdfium, page);
    if (bytes) gathering.addPicture({ label, bytes, mediaType: 'image/png' });
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

function readTitle(pdfium: Pdfium, document: number): string | undefined {
  const memory = pdfium.pdfium.wasmExports;
  const buffer = memory.malloc(MAX_TITLE_BYTES);
  const bytes = pdfium.FPDF_GetMetaText(document, 'Title', buffer, MAX_TITLE_BYTES);
  const title =
    bytes > 2 && bytes <= MAX_TITLE_BYTES
      ? Buffer.from(pdfium.pdfium.HEAPU8.subarray(buffer, buffer + bytes - 2)).toString('utf16le')
      : '';
  memory.free(buffer);
  return title.trim() === '' ? undefined : title;
}
