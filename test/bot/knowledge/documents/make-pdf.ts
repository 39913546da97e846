import { deflateSync } from 'node:zlib';

/** A PDF object: its dictionary and an optional stream. */
export interface PdfObject {
  dictionary: string;
  stream?: Buffer;
}

/** Writes a PDF of these objects, numbered from 1. The first one is the catalog. */
export function makePdf(objects: readonly (PdfObject | string)[], trailer = ''): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1')];
  const places: number[] = [];
  let at = pieces[0]!.length;
  const put = (bytes: Buffer) => {
    pieces.push(bytes);
    at += bytes.length;
  };
  for (const [index, object] of objects.entries()) {
    places.push(at);
    const { dictionary, stream } = typeof object === 'string' ? { dictionary: object, stream: undefined } : object;
    put(Buffer.from(`${index + 1} 0 obj\n${dictionary.replace('LENGTH', String(stream?.length ?? 0))}\n`));
    if (stream) put(Buffer.concat([Buffer.from('stream\n'), stream, Buffer.from('\nendstream\n')]));
    put(Buffer.from('endobj\n'));
  }
  const start = at;
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  put(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`));
  put(Buffer.from(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`));
  return Buffer.concat(pieces);
}

export const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';

/** The objects of a PDF with one page of text. */
export function onePage(text: string, catalog = '', page = ''): (PdfObject | string)[] {
  return [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> ${page} >>`,
    { dictionary: '<< /Length LENGTH >>', stream: Buffer.from(`BT /F1 12 Tf 72 720 Td (${text}) Tj ET`) },
    FONT,
  ];
}

/** A PDF page with one image, like a scan. @param pixels one byte per pixel, or packed as given by `bits` */
export function scannedPage(width: number, height: number, pixels: Buffer, colours = 'DeviceGray', bits = 8): Buffer {
  return makePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>',
    { dictionary: '<< /Length LENGTH >>', stream: Buffer.from('q 595 0 0 842 0 0 cm /I Do Q') },
    {
      dictionary: `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /${colours} /BitsPerComponent ${bits} /Filter /FlateDecode /Length LENGTH >>`,
      stream: deflateSync(pixels, { level: 1 }),
    },
  ]);
}

/**
 * PDF pages with one JPEG 2000 image each, like a colour scan.
 * @param size of the image as the PDF states it
 * @param isInForm whether the image is in a form, as some programs write it, and not in the page itself
 */
export function jpxPages(
  image: Buffer,
  { width, height }: { width: number; height: number },
  { count = 1, isInForm = false } = {},
): Buffer {
  const pages = Array.from({ length: count }, (_, index) => `${index + 6} 0 R`).join(' ');
  const drawing = Buffer.from('q 595 0 0 842 0 0 cm /I Do Q');
  const resources = '/Resources << /XObject << /I 4 0 R /F 5 0 R >> >>';
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R ${resources} >>`;
  return makePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages}] /Count ${count} >>`,
    { dictionary: '<< /Length LENGTH >>', stream: isInForm ? Buffer.from('/F Do') : drawing },
    {
      dictionary: `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /Filter /JPXDecode /Length LENGTH >>`,
      stream: image,
    },
    {
      dictionary: `<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] ${resources} /Length LENGTH >>`,
      stream: drawing,
    },
    ...Array.from({ length: count }, () => page),
  ]);
}

/** A JPEG 2000 image whose headers state another size. */
export function resizedJpx(image: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const copy = Buffer.from(image);
  const box = copy.indexOf('ihdr') + 4;
  copy.writeUInt32BE(height, box);
  copy.writeUInt32BE(width, box + 4);
  // Sizes of the image and of its only tile.
  const size = copy.indexOf(Buffer.from('ff51', 'hex')) + 6;
  for (const at of [size, size + 16]) {
    copy.writeUInt32BE(width, at);
    copy.writeUInt32BE(height, at + 4);
  }
  return copy;
}

/** A page of labels and the annotations beside them. @param fields dictionaries of annotations; `APPEARANCE` is a drawing */
export function formPage(labels: readonly [x: number, y: number, text: string][], fields: readonly string[]): Buffer {
  const numbers = fields.map((_, index) => `${index + 6} 0 R`).join(' ');
  const objects = onePage(
    '',
    `/AcroForm << /Fields [${numbers}] /DA (/F1 12 Tf 0 g) /DR << /Font << /F1 5 0 R >> >> >>`,
    `/Annots [${numbers}]`,
  );
  const shown = labels.map(([x, y, text]) => `BT /F1 12 Tf ${x} ${y} Td (${text}) Tj ET`);
  objects[3] = { dictionary: '<< /Length LENGTH >>', stream: Buffer.from(shown.join('\n')) };
  objects.push(
    ...fields.map((field) => `<< /Type /Annot ${field.replaceAll('APPEARANCE', `${fields.length + 6} 0 R`)} >>`),
    {
      dictionary:
        '<< /Type /XObject /Subtype /Form /BBox [0 0 180 20] /Resources << /Font << /F1 5 0 R >> >> /Length LENGTH >>',
      stream: Buffer.from('BT /F1 12 Tf 2 5 Td (1,250.00) Tj ET'),
    },
  );
  return makePdf(objects);
}
