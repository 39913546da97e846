import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../../shared/clock.ts';
import type { MemoryBudget, Holder } from '../../shared/memory-budget.ts';

/** Maximum size of a delivery's body (SECURITY.md bounded-requests). */
export const MAX_BODY_BYTES = MIB_BYTES;

/** The raw bytes of a request, or the status that refuses them. Bytes beyond the limit are not kept. */
export type BodyResult = { ok: true; body: Buffer } | { ok: false; status: 400 | 413 | 415 | 503 };

/**
 * Reads a delivery's raw bytes: only these can be verified (SECURITY.md raw-bytes-only). Refuses compressed bodies,
 * since a signature covers the bytes as sent and a small body could unpack to a large one.
 * @param held counts the bytes held until the body is complete; a body evicted from this budget is refused with 503
 */
export async function readBody(request: IncomingMessage, held: MemoryBudget): Promise<BodyResult> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return { ok: false, status: 413 };
  return collect(request, held);
}

/** Uses listeners because an async loop costs several times more, and this runs for every delivery and every poll. */
function collect(request: IncomingMessage, held: MemoryBudget): Promise<BodyResult> {
  return new Promise((resolve) => {
    const body = new HeldBody(held, resolve);
    request.on('data', (chunk: Buffer) => body.take(chunk));
    request.on('end', () => body.finish());
    // A close without an end: the sender cut the connection.
    request.on('close', () => body.drop(400));
    request.on('error', () => body.drop(400));
  });
}

/** A body that is being read. Bytes after its end are ignored. */
class HeldBody implements Holder {
  heldBytes = 0;
  readonly #held: MemoryBudget;
  readonly #settle: (result: BodyResult) => void;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #isOver = false;

  constructor(held: MemoryBudget, settle: (result: BodyResult) => void) {
    this.#held = held;
    this.#settle = settle;
    held.begin(this);
  }

  take(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#sizeBytes += chunk.length;
    // Excess bytes are read and dropped: cutting the connection midway would hide the answer from the sender.
    if (this.#sizeBytes > MAX_BODY_BYTES) return this.drop(413);
    this.#chunks.push(chunk);
    this.#held.grow(this, chunk.length);
  }

  finish(): void {
    const [first] = this.#chunks;
    const body = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#sizeBytes);
    this.#end({ ok: true, body });
  }

  drop(status: 400 | 413 | 503): void {
    this.#chunks = [];
    this.#end({ ok: false, status });
  }

  evict(): void {
    this.drop(503);
  }

  #end(result: BodyResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held.end(this);
    this.#settle(result);
  }
}
