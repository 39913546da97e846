// Entry point of the process that reads documents, started by read-document.ts.
import { serveOrders } from '../../../shared/process/serve-orders.mjs';
import { DocumentError, type DocumentFault, type DocumentHint, type ReadDocument } from './document.ts';
import { parseDocument } from './read-here.ts';

/** The document, or the reason why it cannot be read. */
export type ReaderAnswer = { document: ReadDocument } | { fault: DocumentFault };

// An error message may quote the document, so only the code is returned.
serveOrders(({ bytes, hint }: { bytes: Buffer; hint: DocumentHint }): Promise<ReaderAnswer> =>
  parseDocument(bytes, hint).then(
    (document) => ({ document }),
    (error: unknown) => ({ fault: error instanceof DocumentError ? error.code : 'broken' }),
  ),
);
