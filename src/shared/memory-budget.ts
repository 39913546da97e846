/** A body that is being read. */
export interface Holder {
  /** What is held for it; kept by `HeldBytes`. */
  heldBytes: number;
  /** Ends the body; called once at most, and never after `end`. Must not throw. */
  evict(): void;
}

/** A buffer's own cost, so that a body in a thousand crumbs does not cost more than is counted. */
const EACH_PIECE_BYTES = 256;
/** A request's own cost: its connection, its objects, its place among timers. */
const EACH_BODY_BYTES = 8_192;

/**
 * One ceiling for all bytes that are held for senders who have proven nothing yet. Where it is reached, the body that has been
 * under way longest is ended: what comes in earnest is whole within a moment, so that it is never the one.
 */
export class HeldBytes {
  readonly #mostBytes: number;
  /** The oldest first. */
  readonly #holders = new Set<Holder>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** A body begins. May evict others. */
  begin(holder: Holder): void {
    this.#holders.add(holder);
    this.#add(holder, EACH_BODY_BYTES);
  }

  /** So many bytes more are held for it. May evict others, and itself. */
  grow(holder: Holder, bytes: number): void {
    if (this.#holders.has(holder)) this.#add(holder, bytes + EACH_PIECE_BYTES);
  }

  /** Nothing is held for it any more. Safe to repeat. */
  end(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.heldBytes;
  }

  #add(holder: Holder, bytes: number): void {
    holder.heldBytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#mostBytes) this.#makeRoom();
  }

  #makeRoom(): void {
    for (const holder of this.#holders) {
      if (this.#bytes <= this.#mostBytes) return;
      this.end(holder);
      holder.evict();
    }
  }
}
