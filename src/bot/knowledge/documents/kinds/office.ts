import { DocumentError, type ReadDocument } from '../document.ts';
import { mainPart } from '../office/package.ts';
import { Zip } from '../office/zip.ts';
import { readExcel } from './excel.ts';
import { readPowerPoint } from './powerpoint.ts';
import { readWord } from './word.ts';

const READERS: readonly [RegExp, (zip: Zip, main: string) => Promise<ReadDocument>][] = [
  [/^word\/[^/]+\.xml$/, readWord],
  [/^xl\/[^/]+\.xml$/, readExcel],
  [/^ppt\/[^/]+\.xml$/, readPowerPoint],
];

/**
 * Reads a ZIP archive that is a supported Office document.
 * @throws DocumentError
 */
export async function readOffice(bytes: Buffer): Promise<ReadDocument> {
  const zip = new Zip(bytes);
  if (zip.has('META-INF/encryption.xml')) throw new DocumentError('encrypted', 'The document is encrypted');
  const main = zip.has('[Content_Types].xml') ? await mainPart(zip) : undefined;
  const reader = READERS.find(([name]) => main !== undefined && name.test(main))?.[1];
  if (main !== undefined && reader) return reader(zip, main);
  // Drawings and OpenDocument files are archives too, but not supported.
  const isDocument = main !== undefined || zip.has('mimetype');
  throw new DocumentError(isDocument ? 'unsupported' : 'archive', 'The archive is not a supported document');
}
