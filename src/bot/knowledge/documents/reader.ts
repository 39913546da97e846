// The program of the process that reads people's documents, started by read-document.ts.
import { serveOrders } from '../../../shared/process/serve-orders.mjs';
import { DocumentError, type DocumentFault, type DocumentHint, type ReadDocument } from './document.ts';
import { readHere } from './read-here.ts';

/** What became of a document: read, or the fault that stands against it. */
export type ReaderAnswer = { document: ReadDocument } | { fault: DocumentFault };

// A reader's words may quote the document; of what failed only the code is told.
serveOrders(({ bytes, hint }: { bytes: Buffer; hint: DocumentHint }): Promise<ReaderAnswer> =>
  readHere(bytes, hint).then(
    (document) => ({ document }),
    (error: unknown) => ({ fault: error instanceof DocumentError ? error.code : 'broken' }),
  ),
);
