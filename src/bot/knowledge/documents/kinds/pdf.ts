import { brokenDocument, DocumentError, type ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { drawPage } from '../pdf/draw-page.ts';
import { bytesForImages, forgetPdfium, openPdfium, readWideText, type Pdfium } from '../pdf/open-pdfium.ts';
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
    const drawing = { maxImageBytes: bytesForImages(bytes.length), undecodable: [] as number[] };
    let longestMs = 0;
    for (let page = 0; page < count; page += 1) {
      // A page that ends after the time limit would cost the pages before it.
      if (page > 0 && gathering.isFull(longestMs)) {
        gathering.cut(`page ${page}`);
        break;
      }
      const startMs = performance.now();
      readPage(pdfium, pages, page, gathering, drawing);
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
    if (gathering.isEmpty && drawing.undecodable.length > 0)
      throw new DocumentError('too_heavy', 'The images of the PDF take too much memory');
    gathering.nameUnread('Pages with images that cannot be decoded', drawing.undecodable);
    pages.close();
    pdfium.FPDF_CloseDocument(document);
    memory.free(start);
  } catch (error) {
    // Discards the PDFium instance together with all open handles.
    forgetPdfium();
    if (error instanceof DocumentError) throw error;
    if (gathering.isEmpty) throw faultOf(error);
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

interface Drawing {
  /** Memory for decoding the images of a page. */
  maxImageBytes: number;
  /** Numbers of the pages that cannot be drawn. */
  undecodable: number[];
}

function readPage(pdfium: Pdfium, pages: PdfPages, index: number, gathering: TextCollector, drawing: Drawing): void {
  const label = `page ${index + 1}`;
  pages.read(index, ({ page, text, isScan }) => {
    gathering.add(text, label);
    if (!isScan || !gathering.wantsPictures) return;
    const bytes = drawPage(pdfium, page, drawing.maxImageBytes);
    if (bytes === 'undecodable') drawing.undecodable.push(index + 1);
    else if (bytes) gathering.addPicture({ label, bytes, mediaType: 'image/png' });
  });
}

function readTitle(pdfium: Pdfium, document: number): string | undefined {
  const title = readWideText(pdfium, MAX_TITLE_CHARS, (at, bytes) =>
    pdfium.FPDF_GetMetaText(document, 'Title', at, bytes),
  );
  return title.trim() === '' ? undefined : title;
}
