import { brokenDocument, DocumentError, type ReadDocument } from '../document.ts';
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

/** Names of entries that only Office documents have. */
const PACKAGE_PARTS = /^(\[Content_Types\]\.xml|(word|xl|ppt)\/[^/]+\.xml)$/;

/** Reads a ZIP archive that is a supported Office document. @throws DocumentError */
export async function readOffice(bytes: Buffer): Promise<ReadDocument> {
  const zip = new Zip(bytes);
  if (zip.has('META-INF/encryption.xml')) throw new DocumentError('encrypted', 'The document is encrypted');
  const main = zip.has('[Content_Types].xml') ? await mainPart(zip) : undefined;
  const reader = READERS.find(([name]) => main !== undefined && name.test(main))?.[1];
  if (main !== undefined && reader) {
    if (!zip.has(main)) throw brokenDocument('The document lacks its main part');
    return reader(zip, main);
  }
  // Drawings and OpenDocument files are archives too, but not supported.
  if (main !== undefined || zip.has('mimetype'))
    throw new DocumentError('unsupported', 'The document is not supported');
  if ([...zip.names].some((name) => PACKAGE_PARTS.test(name))) throw brokenDocument('The document lacks its relations');
  throw new DocumentError('archive', 'The archive is not a document');
}
