import { writePng } from '../write-png.ts';
import { decodableScale, findJpxImages } from './jpx-images.ts';
import type { Pdfium } from './open-pdfium.ts';

/** At this resolution, models can read 10-point text on an A4 page. */
const MAX_SIDE_PIXELS = 1_500;
/** Below this resolution, text is illegible. */
const MIN_SIDE_PIXELS = 700;
const BYTES_OF_PIXEL = 3;
/** PDFium's FPDFBitmap_BGR and FPDF_REVERSE_BYTE_ORDER: the byte order is RGB. */
const FORMAT = 2;
const RED_FIRST = 0x10;
const WHITE = 0xffffffff;
/** Each channel of a white pixel. */
const BLANK = 0xff;

/**
 * Renders a page without text as a PNG, smaller if its JPEG 2000 images need too much memory otherwise.
 * @param maxImageBytes memory for decoding images
 * @returns undefined if the page has no size; `undecodable` if its images cannot be decoded
 */
export function drawPage(pdfium: Pdfium, page: number, maxImageBytes: number): Buffer | 'undecodable' | undefined {
  const [pageWidth, pageHeight] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const side = Math.max(pageWidth, pageHeight);
  const images = findJpxImages(pdfium, page);
  const [minScale, maxScale] = [MIN_SIDE_PIXELS / side, MAX_SIDE_PIXELS / side];
  const scale = decodableScale(images, { minScale, maxScale, maxBytes: maxImageBytes });
  if (scale === undefined) return 'undecodable';
  const [width, height] = [Math.round(pageWidth * scale), Math.round(pageHeight * scale)];
  if (!(width >= 16 && height >= 16)) return undefined;
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, FORMAT, 0, 0);
  if (bitmap === 0) return undefined;
  try {
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, RED_FIRST);
    const start = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const stride = pdfium.FPDFBitmap_GetStride(bitmap);
    const rowBytes = width * BYTES_OF_PIXEL;
    const rows = Buffer.alloc(height * (1 + rowBytes));
    let isBlank = true;
    for (let row = 0; row < height; row += 1) {
      const at = start + row * stride;
      const pixels = pdfium.pdfium.HEAPU8.subarray(at, at + rowBytes);
      isBlank &&= pixels.every((value) => value === BLANK);
      rows.set(pixels, row * (1 + rowBytes) + 1);
    }
    // PDFium leaves out an image that it cannot decode.
    return isBlank && images.length > 0 ? 'undecodable' : writePng(width, height, rows);
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}
