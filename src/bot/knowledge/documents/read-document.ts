import { fileURLToPath } from 'node:url';
import { SandboxedProcess, SandboxedProcessError } from '../../../shared/process/sandboxed-process.ts';
import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import { threadModule } from '../../../shared/process/worker-pool.ts';
import { DocumentError, MAX_DOCUMENT_BYTES, type DocumentHint, type ReadDocument } from './document.ts';
import type { ReaderAnswer } from './reader.ts';

/** Together with the process start, reading takes less than ten seconds (SECURITY.md read-apart). */
const READ_LIMIT_MS = 9 * SECOND_MS;
/**
 * Checked periodically, so it decides only on what no other limit bounds. A PDF stays below: 70 MB for the program, 100 MB for
 * PDFium, the file itself and the drawn pages.
 */
const MAX_RESIDENT_BYTES = 225_000_000;
const MAX_HEAP_MIB = 64;
/** PDFium takes 25 MiB once; the largest documents leave behind as much as they used. */
const MAX_GROWN_BYTES = 60 * MIB_BYTES;

/** One document at a time, so that memory is bounded regardless of the load. */
const lane = new SerialQueue(1);
const reader = new SandboxedProcess({
  name: 'documents',
  path: fileURLToPath(threadModule('./reader.js', import.meta.url)),
  limitMs: READ_LIMIT_MS,
  maxGrownBytes: MAX_GROWN_BYTES,
  maxResidentBytes: MAX_RESIDENT_BYTES,
  maxHeapMib: MAX_HEAP_MIB,
});

/**
 * Extracts the text of a document, in labelled parts, and its images. Runs in a separate process that holds no keys and has
 * time and memory limits (SECURITY.md read-apart).
 * @param owner owner of the document; one owner's many documents do not block another's
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
  if (!(error instanceof SandboxedProcessError)) throw error;
  return { fault: error.code === 'ended' ? 'not_read' : 'too_heavy' };
}
