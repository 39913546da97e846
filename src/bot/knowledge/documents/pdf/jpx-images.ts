import type { Pdfium } from './open-pdfium.ts';

/** FPDF_PAGEOBJ_IMAGE and FPDF_PAGEOBJ_FORM. */
const IMAGE = 3;
const FORM = 5;
const JPX_FILTER = 'JPXDecode\0';
/** Per page, with the objects in its forms. */
const MAX_OBJECTS = 2_000;
/** PDFium decodes each of up to three channels to 32 bits, and then to a bitmap that it keeps. */
const DECODER_BYTES_PER_PIXEL = 12;
const KEPT_BYTES_PER_PIXEL = 4;
/** The image on the bitmap is rounded outwards. */
const ROUNDING = 0.99;

/** A JPEG 2000 image of a page. */
interface JpxImage {
  pixels: { width: number; height: number };
  /** Size on the page in points. */
  shown: { width: number; height: number };
}

/** Finds the JPEG 2000 images of a page by their headers. An image in a form counts as large as the page. */
export function findJpxImages(pdfium: Pdfium, page: number): JpxImage[] {
  const memory = pdfium.pdfium.wasmExports;
  const at = memory.malloc(16);
  const whole = { width: pdfium.FPDF_GetPageWidthF(page), height: pdfium.FPDF_GetPageHeightF(page) };
  const isTurned = pdfium.FPDFPage_GetRotation(page) % 2 === 1;
  const images: JpxImage[] = [];
  let left = MAX_OBJECTS;
  const read = (object: number, isInForm: boolean): void => {
    left -= 1;
    const type = pdfium.FPDFPageObj_GetType(object);
    if (type === FORM) {
      const count = pdfium.FPDFFormObj_CountObjects(object);
      for (let index = 0; index < count && left > 0; index += 1)
        read(pdfium.FPDFFormObj_GetObject(object, index), true);
    }
    if (type !== IMAGE || !isJpx(pdfium, object, at)) return;
    if (!pdfium.FPDFImageObj_GetImagePixelSize(object, at, at + 4)) return;
    const pixels = { width: pdfium.pdfium.getValue(at, 'i32'), height: pdfium.pdfium.getValue(at + 4, 'i32') };
    const shown = isInForm ? whole : shownSize(pdfium, object, { at, isTurned });
    if (shown) images.push({ pixels, shown });
  };
  try {
    const count = pdfium.FPDFPage_CountObjects(page);
    for (let index = 0; index < count && left > 0; index += 1) read(pdfium.FPDFPage_GetObject(page, index), false);
  } finally {
    memory.free(at);
  }
  return images;
}

function shownSize(
  pdfium: Pdfium,
  object: number,
  { at, isTurned }: { at: number; isTurned: boolean },
): JpxImage['shown'] | undefined {
  if (!pdfium.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12)) return undefined;
  const [left, bottom, right, top] = [0, 4, 8, 12].map((offset) => pdfium.pdfium.getValue(at + offset, 'float'));
  const [width, height] = [(right ?? 0) - (left ?? 0), (top ?? 0) - (bottom ?? 0)];
  return isTurned ? { width: height, height: width } : { width, height };
}

function isJpx(pdfium: Pdfium, object: number, at: number): boolean {
  const last = pdfium.FPDFImageObj_GetImageFilterCount(object) - 1;
  if (last < 0 || pdfium.FPDFImageObj_GetImageFilter(object, last, 0, 0) !== JPX_FILTER.length) return false;
  pdfium.FPDFImageObj_GetImageFilter(object, last, at, JPX_FILTER.length);
  return Buffer.from(pdfium.pdfium.HEAPU8.subarray(at, at + JPX_FILTER.length)).toString('latin1') === JPX_FILTER;
}

/**
 * The largest scale at which PDFium can decode the images of a page. PDFium halves an image, before it decodes it, as long as
 * the result is not smaller than the image on the bitmap.
 * @param limits scales in pixels per point, and the memory for the images
 * @returns undefined if no such scale exists
 */
export function decodableScale(
  images: readonly JpxImage[],
  limits: { maxScale: number; minScale: number; maxBytes: number },
): number | undefined {
  let scale = limits.maxScale;
  while (scale >= limits.minScale) {
    if (decodedBytes(images, scale) <= limits.maxBytes) return scale;
    const current = scale;
    scale = Math.max(
      ...images.map((image) => (current * ratioOf(image, current) * ROUNDING) / 2 ** (halvings(image, current) + 1)),
    );
  }
  return undefined;
}

function decodedBytes(images: readonly JpxImage[], scale: number): number {
  const counts = images.map((image) => (image.pixels.width * image.pixels.height) / 4 ** halvings(image, scale));
  const sum = counts.reduce((total, count) => total + count, 0);
  return sum * KEPT_BYTES_PER_PIXEL + Math.max(0, ...counts) * DECODER_BYTES_PER_PIXEL;
}

function ratioOf({ pixels, shown }: JpxImage, scale: number): number {
  return Math.min(pixels.width / (shown.width * scale), pixels.height / (shown.height * scale));
}

function halvings(image: JpxImage, scale: number): number {
  return Math.floor(Math.log2(Math.max(1, ratioOf(image, scale))));
}
