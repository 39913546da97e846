import { MIB_BYTES, MINUTE_MS } from '../base/clock.ts';
import { Fifo } from '../base/fifo.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';

/** A replica that is further behind is broken. */
const KEEP_MS = MINUTE_MS;
const MOST_WHOLE = 20_000;
const MOST_WHOLE_BYTES = 16 * MIB_BYTES;
/** Of so many more only the ids are kept: enough to say that they are gone. */
const MOST_BARE = 100_000;

/** One acknowledged message as it was stored: all that storing it again needs. Its text is sealed. */
export interface RecentAccept {
  deliveryId: string;
  conversation: ConversationRef;
  /** Keys and arguments of accept.lua. The first key is the message's record. */
  keys: string[];
  args: (string | number)[];
  /** By this process's clock. */
  acceptedAtMs: number;
}

/** What is left of one when there were too many to keep them whole. */
export type BareAccept = Pick<RecentAccept, 'deliveryId'> & { recordKey: string };

interface Kept<Entry> {
  /** On the monotonic clock. */
  atMs: number;
  bytes: number;
  entry: Entry;
}

/**
 * What this receiver acknowledged in the last minute, in order. A Redis that took over from another may have lost some of
 * it (reliability.md F12), and then this memory is the only place where it still is: at most 20,000 messages and 16 MiB.
 */
export class RecentAccepts {
  readonly #whole = new Fifo<Kept<RecentAccept>>();
  readonly #bare = new Fifo<Kept<BareAccept>>();
  #bytes = 0;

  keep(entry: RecentAccept): void {
    const bytes = entry.args.reduce<number>((sum, arg) => sum + (typeof arg === 'string' ? arg.length : 8), 0);
    this.#whole.push({ atMs: performance.now(), bytes, entry });
    this.#bytes += bytes;
    this.#trim();
  }

  /** All of the last minute, the oldest first, each once, although it may have been stored twice. */
  all(): { whole: RecentAccept[]; bare: BareAccept[] } {
    this.#trim();
    return { whole: eachOnce(this.#whole), bare: eachOnce(this.#bare) };
  }

  /** Looks at the oldest only, until one may stay. */
  #trim(): void {
    const oldestMs = performance.now() - KEEP_MS;
    for (let oldest = this.#whole.oldest; oldest; oldest = this.#whole.oldest) {
      const { atMs, bytes, entry } = oldest;
      const isOld = atMs < oldestMs;
      if (!isOld && this.#whole.size <= MOST_WHOLE && this.#bytes <= MOST_WHOLE_BYTES) break;
      this.#whole.shift();
      this.#bytes -= bytes;
      const bare = { deliveryId: entry.deliveryId, recordKey: entry.keys[0] ?? '' };
      if (!isOld) this.#bare.push({ atMs, bytes: 0, entry: bare });
    }
    for (let oldest = this.#bare.oldest; oldest; oldest = this.#bare.oldest) {
      if (oldest.atMs >= oldestMs && this.#bare.size <= MOST_BARE) break;
      this.#bare.shift();
    }
  }
}

function eachOnce<Entry extends { deliveryId: string }>(kept: Iterable<Kept<Entry>>): Entry[] {
  const byId = new Map<string, Entry>();
  for (const { entry } of kept) byId.set(entry.deliveryId, entry);
  return [...byId.values()];
}
