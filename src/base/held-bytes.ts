/** A body that is being read: what it holds, and how to end it. */
interface Holder {
  bytes: number;
  evict(): void;
}

/** What one body may report while it is read. */
export interface Holding {
  /** So many bytes more are held. May evict others, and itself. */
  grow(bytes: number): void;
  /** Nothing is held any more. Safe to repeat. */
  end(): void;
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

  /** @param evict ends the body; called once at most, and never after `end`. Must not throw */
  begin(evict: () => void): Holding {
    const holder: Holder = { bytes: 0, evict };
    this.#holders.add(holder);
    const add = (bytes: number) => {
      if (!this.#holders.has(holder)) return;
      holder.bytes += bytes;
      this.#bytes += bytes;
      this.#makeRoom();
    };
    add(EACH_BODY_BYTES);
    return {
      grow: (bytes) => add(bytes + EACH_PIECE_BYTES),
      end: () => this.#forget(holder),
    };
  }

  #makeRoom(): void {
    for (const holder of this.#holders) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#forget(holder);
      holder.evict();
    }
  }

  #forget(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.bytes;
  }
}
