import { fileURLToPath } from 'node:url';
import { BoundedProcess, BoundedProcessError } from '../../../shared/process/sandboxed-process.ts';
import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import { threadModule } from '../../../shared/process/worker-pool.ts';
import { DocumentError, MAX_DOCUMENT_BYTES, type DocumentHint, type ReadDocument } from './document.ts';
import type { ReaderAnswer } from './reader.ts';

/** With the start of the process it stays below ten seconds (SECURITY.md read-apart). */
const READ_LIMIT_MS = 9 * SECOND_MS;
/** What it takes between two looks stays below 150 MB. */
const MOST_RESIDENT_BYTES = 143_000_000;
const MOST_HEAP_MIB = 64;
/** The reader of PDFs takes 25 MiB once, and the largest documents leave as much as they took. */
const MOST_GROWN_BYTES = 60 * MIB_BYTES;

/** One document at a time in a process: so its memory is bounded, whatever comes at once. */
const lane = new SerialQueue(1);
const reader = new BoundedProcess({
  name: 'documents',
  path: fileURLToPath(threadModule('./reader.js', import.meta.url)),
  limitMs: READ_LIMIT_MS,
  mostGrownBytes: MOST_GROWN_BYTES,
  mostResidentBytes: MOST_RESIDENT_BYTES,
  mostHeapMib: MOST_HEAP_MIB,
});

/**
 * Reads a document: its text in pieces that people can find again, and the pictures in it. It is read in a process of its own,
 * which holds no key, and has an end of time and memory (SECURITY.md read-apart).
 * @param owner whose document it is: their many documents do not hold up another's
 * @throws DocumentError; the signal's reason
 */
export async function readDocument(
  bytes: Buffer,
  hint: DocumentHint,
  owner: string,
  signal: AbortSignal,
): Promise<ReadDocument> {
  if (bytes.length > MAX_DOCUMENT_BYTES) throw new DocumentError('too_large', 'The document has too many bytes');
  const answer = await lane.run(owner, async () => {
    signal.throwIfAborted();
    const order = { bytes, hint };
    return reader.ask(order, signal).then((answered) => answered as ReaderAnswer, judge);
  });
  if ('fault' in answer) throw new DocumentError(answer.fault, 'The document cannot be read');
  return answer.document;
}

function judge(error: unknown): ReaderAnswer {
  if (!(error instanceof BoundedProcessError)) throw error;
  return { fault: error.code === 'ended' ? 'not_read' : 'too_heavy' };
}
