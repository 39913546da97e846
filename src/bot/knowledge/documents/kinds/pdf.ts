import { brokenDocument, DocumentError, type ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { drawPage } from '../pdf/draw-page.ts';
import { forgetPdfium, openPdfium, readWideText, type Pdfium } from '../pdf/open-pdfium.ts';
import { PdfPages } from '../pdf/read-page.ts';

const NEEDS_PASSWORD = 4;
const UNKNOWN_SECURITY = 5;
const MAX_TITLE_CHARS = 512;

/**
 * Reads a PDF page by page, with the values of its form and its annotations. Pages without text are rendered as images for
 * the model. Nothing in the PDF is executed. A PDF that opens without a password is read regardless of its permission flags.
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
    const pages = new PdfPages(pdfium, document);
    const count = (pageCount = pdfium.FPDF_GetPageCount(document));
    for (let page = 0; page < count; page += 1) {
      if (page > 0 && gathering.isFull) {
        gathering.cut(`page ${page}`);
        break;
      }
      readPage(pdfium, pages, page, gathering);
    }
    pages.close();
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

function readPage(pdfium: Pdfium, pages: PdfPages, index: number, gathering: TextCollector): void {
  const label = `page ${index + 1}`;
  pages.read(index, ({ page, text, isScan }) => {
    gathering.add(text, label);
    if (!isScan || !gathering.wantsPictures) return;
    const bytes = drawPage(pdfium, page);
    if (bytes) gathering.addPicture({ label, bytes, mediaType: 'image/png' });
  });
}

function readTitle(pdfium: Pdfium, document: number): string | undefined {
  const title = readWideText(pdfium, MAX_TITLE_CHARS, (at, bytes) =>
    pdfium.FPDF_GetMetaText(document, 'Title', at, bytes),
  );
  return title.trim() === '' ? undefined : title;
}
