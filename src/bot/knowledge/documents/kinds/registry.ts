import type { ReadDocument } from '../document.ts';
import type { DocumentKind } from '../detect-type.ts';
import { readCsv } from './csv.ts';
import { readHtml } from './html.ts';
import { readMarkdown } from './markdown.ts';
import { readOffice } from './office.ts';
import { readPdf } from './pdf.ts';
import { TextCollector } from '../text-collector.ts';
import { decodeText } from '../text/decode-text.ts';

/** The reader for each type. @throws DocumentError */
export const KINDS: Readonly<Record<DocumentKind, (bytes: Buffer) => Promise<ReadDocument>>> = {
  pdf: readPdf,
  office: readOffice,
  html: readHtml,
  markdown: readMarkdown,
  csv: readCsv,
  text: readPlainText,
};

/** Reads plain text unchanged. */
async function readPlainText(bytes: Buffer): Promise<ReadDocument> {
  const gathering = new TextCollector();
  gathering.add(decodeText(bytes));
  return gathering.result();
}
