import { DAY_MS, HOUR_MS, MIB_BYTES, MINUTE_MS, type NowMs, monotonicMs } from '../base/clock.ts';
import { Fifo } from '../base/fifo.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import { NEVER_MERGED } from './inbox-entry.ts';

/** Everything is kept so long: a replica that is further behind is broken. */
const KEEP_MS = MINUTE_MS;
/** Slash words and the like may have changed what no answer shows (/forget, /unlink); they are few. */
const KEEP_WORDS_MS = HOUR_MS;
/** Longer than a delivery is remembered nothing is kept. */
const LONGEST_MS = DAY_MS;
const MOST_WHOLE = 20_000;
const MOST_WHOLE_BYTES = 16 * MIB_BYTES;
/** Of so many more only the ids are kept, for so long: enough to say that they are gone. */
const MOST_BARE = 100_000;
const KEEP_BARE_MS = HOUR_MS;
/** Of accept.lua, from 0. */
const MERGE_KEY_ARGUMENT = 3;

/** One acknowledged message as it was stored: all that storing it again needs. Its text is sealed. */
export interface RecentAccept {
  deliveryId: string;
  conversation: ConversationRef;
  /** Keys and arguments of accept.lua. The first key is the message's record. */
  keys: string[];
  args: (string | number)[];
  /** When it was taken, by Redis' clock: the receivers that store messages of one conversation again need one clock. */
  takenAtMs: number;
}

/** What is left of one when there were too many to keep them whole. */
export type BareAccept = Pick<RecentAccept, 'deliveryId'> & { recordKey: string };

interface Kept {
  /** On the monotonic clock. */
  atMs: number;
  bytes: number;
  entry: RecentAccept;
  /** Its answer was shown whole: it need not be stored again. */
  isSeen?: true;
}

export interface RecentAcceptsOptions {
  /** Told when one more could be kept by its id only, since too many wait. */
  onBare?: () => void;
  /** The monotonic clock unless told. */
  nowMs?: NowMs;
}

/**
 * What this receiver acknowledged and what a Redis that takes over from another may have lost (reliability.md F12): then this
 * memory is the only place where it still is. All of the last minute, and of what is older what still waits for its answer;
 * at most 20,000 messages and 16 MiB.
 */
export class RecentAccepts {
  readonly #options: RecentAcceptsOptions;
  readonly #nowMs: NowMs;
  readonly #young = new Fifo<Kept>();
  readonly #youngById = new Map<string, Kept>();
  /** Older than what is kept in any case, in order. */
  readonly #older = new Map<string, Kept>();
  readonly #bare = new Fifo<{ atMs: number; entry: BareAccept }>();
  #bytes = 0;

  constructor(options: RecentAcceptsOptions = {}) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? monotonicMs;
  }

  keep(entry: RecentAccept): void {
    const bytes = entry.args.reduce<number>((sum, arg) => sum + (typeof arg === 'string' ? arg.length : 8), 0);
    const kept = { atMs: this.#nowMs(), bytes, entry };
    this.#young.push(kept);
    this.#youngById.set(entry.deliveryId, kept);
    this.#bytes += bytes;
    this.#trim();
  }

  /** All that is kept, the oldest first, each once, although it may have been stored twice. */
  all(): { whole: RecentAccept[]; bare: BareAccept[] } {
    this.#trim();
    const kept = [...this.#older.values(), ...this.#young].filter(({ isSeen }) => isSeen !== true);
    return {
      whole: eachOnce(kept.map(({ entry }) => entry)),
      bare: eachOnce([...this.#bare].map(({ entry }) => entry)),
    };
  }

  /** What is kept only as long as it waits. */
  older(): RecentAccept[] {
    this.#trim();
    return [...this.#older.values()].map(({ entry }) => entry);
  }

  /** Forgets what has its answer. */
  forgetAnswered(deliveryIds: readonly string[]): void {
    for (const id of deliveryIds) {
      const kept = this.#older.get(id);
      if (kept && this.#nowMs() - kept.atMs >= leastLifeMs(kept.entry)) this.#forgetOlder(id, kept);
    }
  }

  /** Forgets a message whose answer its sender has seen whole: it would be answered a second time. Words that do something stay. */
  forgetSeen(deliveryId: string): void {
    const young = this.#youngById.get(deliveryId);
    if (young && leastLifeMs(young.entry) === KEEP_MS) young.isSeen = true;
    else if (!young) this.forgetAnswered([deliveryId]);
  }

  #shiftYoung(): void {
    const kept = this.#young.shift();
    if (kept && this.#youngById.get(kept.entry.deliveryId) === kept) this.#youngById.delete(kept.entry.deliveryId);
  }

  /** Looks at the oldest only, until one may stay. */
  #trim(): void {
    const nowMs = this.#nowMs();
    for (let oldest = this.#young.oldest; oldest && nowMs - oldest.atMs >= KEEP_MS; oldest = this.#young.oldest) {
      this.#shiftYoung();
      const { deliveryId } = oldest.entry;
      const double = this.#older.get(deliveryId);
      if (double) this.#forgetOlder(deliveryId, double);
      this.#older.set(deliveryId, oldest);
      if (oldest.isSeen) this.#forgetOlder(deliveryId, oldest);
    }
    for (const [id, kept] of this.#older) {
      const isOver = nowMs - kept.atMs >= LONGEST_MS;
      if (!isOver && !this.#isFull()) break;
      this.#forgetOlder(id, kept);
      if (!isOver) this.#keepBare(kept);
    }
    for (let oldest = this.#young.oldest; oldest && this.#isFull(); oldest = this.#young.oldest) {
      this.#shiftYoung();
      this.#bytes -= oldest.bytes;
      if (!oldest.isSeen) this.#keepBare(oldest);
    }
    for (let oldest = this.#bare.oldest; oldest; oldest = this.#bare.oldest) {
      if (nowMs - oldest.atMs < KEEP_BARE_MS && this.#bare.size <= MOST_BARE) break;
      this.#bare.shift();
    }
  }

  #isFull(): boolean {
    return this.#older.size + this.#young.size > MOST_WHOLE || this.#bytes > MOST_WHOLE_BYTES;
  }

  #forgetOlder(deliveryId: string, { bytes }: Kept): void {
    this.#older.delete(deliveryId);
    this.#bytes -= bytes;
  }

  #keepBare({ atMs, entry: { deliveryId, keys } }: Kept): void {
    this.#bare.push({ atMs, entry: { deliveryId, recordKey: keys[0] ?? '' } });
    this.#options.onBare?.();
  }
}

function leastLifeMs({ args }: RecentAccept): number {
  return args[MERGE_KEY_ARGUMENT] === NEVER_MERGED ? KEEP_WORDS_MS : KEEP_MS;
}

function eachOnce<Entry extends { deliveryId: string }>(entries: Iterable<Entry>): Entry[] {
  const byId = new Map<string, Entry>();
  for (const entry of entries) byId.set(entry.deliveryId, entry);
  return [...byId.values()];
}
