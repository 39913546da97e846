/** A body that is being received. */
export interface Holder {
  /** Bytes held for it; maintained by `HeldBytes`. */
  heldBytes: number;
  /** Ends the body. Called at most once, and never after `end`. Must not throw. */
  evict(): void;
}

/** Overhead of one buffer, so that a body in a thousand tiny chunks does not cost more than is counted. */
const EACH_PIECE_BYTES = 256;
/** Overhead of one request: its connection, objects and timer. */
const EACH_BODY_BYTES = 8_192;

/**
 * One limit for all bytes held for unauthenticated senders. When it is reached, the oldest unfinished body is ended. A
 * legitimate body arrives within moments, so it is never the oldest.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #holders = new Set<Holder>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Registers a new body. May evict others. */
  begin(holder: Holder): void {
    this.#holders.add(holder);
    this.#add(holder, EACH_BODY_BYTES);
  }

  /** Adds bytes to a body. May evict others, or this body. */
  grow(holder: Holder, bytes: number): void {
    if (this.#holders.has(holder)) this.#add(holder, bytes + EACH_PIECE_BYTES);
  }

  /** Releases everything held for a body. Idempotent. */
  end(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.heldBytes;
  }

  #add(holder: Holder, bytes: number): void {
    holder.heldBytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#makeRoom();
  }

  #makeRoom(): void {
    for (const holder of this.#holders) {
      if (this.#bytes <= this.#maxBytes) return;
      this.end(holder);
      holder.evict();
    }
  }
}
