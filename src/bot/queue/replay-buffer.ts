import { DAY_MS, HOUR_MS, MIB_BYTES, MINUTE_MS, type NowMs, monotonicMs } from '../../shared/clock.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { TimedTexts, type TimedText } from '../../shared/ring-buffer.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import { bareName } from '../../shared/redis/script-shape.ts';
import { ACCEPT_SHAPE, type AcceptArgs, type AcceptKeys } from './accept-shape.ts';
import { NEVER_MERGED } from './inbox-entry.ts';

/** Everything is kept so long: a replica that is further behind is broken. */
const KEEP_MS = MINUTE_MS;
/** Slash words and the like may have changed what no answer shows (/forget, /unlink); they are few. */
const KEEP_WORDS_MS = HOUR_MS;
/** Longer than a delivery is remembered nothing is kept. */
const LONGEST_MS = DAY_MS;
const MOST_WHOLE = 20_000;
const MOST_WHOLE_BYTES = 16 * MIB_BYTES;
/** Of both, once there were too many. */
const SHARE_LEFT = 31 / 32;
/** Of so many more only the ids are kept, for so long: enough to say that they are gone. */
const MOST_BARE = 100_000;
const KEEP_BARE_MS = HOUR_MS;
const KEY_NAMES = ACCEPT_SHAPE.keys.map(bareName) as readonly (keyof AcceptKeys)[];
const ARG_NAMES = ACCEPT_SHAPE.args.map(bareName) as readonly (keyof AcceptArgs)[];

/** One acknowledged message as it was stored: all that storing it again needs. Its text is sealed. */
export interface AcceptedMessage {
  deliveryId: DeliveryId;
  conversation: ConversationRef;
  /** Keys and arguments of accept.lua. */
  keys: AcceptKeys;
  args: AcceptArgs;
  /** When it was taken, by Redis' clock: the receivers that store messages of one conversation again need one clock. */
  takenAtMs: number;
}

/** What is left of one when there were too many to keep them whole. */
export type AcceptedId = Pick<AcceptedMessage, 'deliveryId'> & { recordKey: string };

export interface ReplayBufferOptions {
  /** Told when one more could be kept by its id only, since too many wait. */
  onBare?: () => void;
  /** The monotonic clock unless told. */
  nowMs?: NowMs;
}

/**
 * What this receiver acknowledged and what a Redis that takes over from another may have lost (RELIABILITY.md failover): then this
 * memory is the only place where it still is. All of the last minute, and of what is older what still waits for its answer;
 * at most 20,000 messages and 16 MiB.
 */
export class ReplayBuffer {
  readonly #options: ReplayBufferOptions;
  readonly #nowMs: NowMs;
  /** Packed; see `pack`. */
  readonly #young = new TimedTexts();
  /** Older than what is kept in any case, by their delivery ids, in order; packed. */
  readonly #older = new Map<DeliveryId, TimedText>();
  #olderBytes = 0;
  /** Records' keys. */
  readonly #bare = new TimedTexts();
  /** Answers that were seen whole in this minute and in the one before: longer than their messages are young. */
  #seen = new Set<DeliveryId>();
  #seenBefore = new Set<DeliveryId>();
  #seenSinceMs: number;

  constructor(options: ReplayBufferOptions = {}) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? monotonicMs;
    this.#seenSinceMs = this.#nowMs();
  }

  keep(entry: AcceptedMessage): void {
    const nowMs = this.#nowMs();
    this.#young.push(nowMs, pack(entry));
    this.#trim(nowMs);
  }

  /** All that is kept, the oldest first, each once, although it may have been stored twice. */
  all(): { whole: AcceptedMessage[]; bare: AcceptedId[] } {
    this.#trim(this.#nowMs());
    this.#forgetOverdue();
    const kept = [...this.#older.values(), ...this.#young].filter((one) => !this.#isSeen(one));
    return {
      whole: eachOnce(kept.map(unpack)),
      bare: eachOnce(
        [...this.#bare].map(({ text }) => ({ deliveryId: asDeliveryId(afterLast(text, ':')), recordKey: text })),
      ),
    };
  }

  /** The delivery ids of what is kept only as long as it waits, by the numbers of their partitions. */
  olderByPartition(): Map<number, DeliveryId[]> {
    this.#trim(this.#nowMs());
    this.#forgetOverdue();
    const found = new Map<number, DeliveryId[]>();
    for (const [deliveryId, kept] of this.#older) {
      const partition = partitionOfPacked(kept);
      const ids = found.get(partition);
      if (ids) ids.push(deliveryId);
      else found.set(partition, [deliveryId]);
    }
    return found;
  }

  /** Forgets what has its answer. */
  forgetAnswered(deliveryIds: readonly DeliveryId[]): void {
    for (const id of deliveryIds) {
      const kept = this.#older.get(id);
      if (kept && this.#nowMs() - kept.atMs >= leastLifeMs(kept)) this.#forgetOlder(id, kept);
    }
  }

  /** Forgets a message whose answer its sender has seen whole: it would be answered a second time. Words that do something stay. */
  forgetSeen(deliveryId: DeliveryId): void {
    if (this.#older.has(deliveryId)) return this.forgetAnswered([deliveryId]);
    const nowMs = this.#nowMs();
    if (nowMs - this.#seenSinceMs >= KEEP_MS || this.#seen.size >= MOST_WHOLE) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
      this.#seenSinceMs = nowMs;
    }
    this.#seen.add(deliveryId);
  }

  #isSeen(kept: TimedText): boolean {
    const id = deliveryIdOfPacked(kept);
    return (this.#seen.has(id) || this.#seenBefore.has(id)) && leastLifeMs(kept) === KEEP_MS;
  }

  /** Looks at the oldest only, until one may stay. */
  #trim(nowMs: number): void {
    while (nowMs - (this.#young.oldestAtMs ?? nowMs) >= KEEP_MS) this.#growOld();
    if (this.#isFull()) this.#makeRoom();
    while (this.#bare.size > MOST_BARE || nowMs - (this.#bare.oldestAtMs ?? nowMs) >= KEEP_BARE_MS) this.#bare.shift();
  }

  /** What was seen answered goes; what was stored twice is kept once. */
  #growOld(): void {
    const kept = this.#young.shift();
    if (!kept) return;
    const id = deliveryIdOfPacked(kept);
    const double = this.#older.get(id);
    if (double) this.#forgetOlder(id, double);
    if (this.#isSeen(kept)) return;
    this.#older.set(id, kept);
    this.#olderBytes += kept.text.length;
  }

  #forgetOverdue(): void {
    const nowMs = this.#nowMs();
    for (const [id, kept] of this.#older) {
      if (nowMs - kept.atMs < LONGEST_MS) return;
      this.#forgetOlder(id, kept);
    }
  }

  /**
   * Of the older ones some more than need be go at once: the way to a map's first entry leads over all that were taken out before it,
   * so that one for each message would cost more than all else about it.
   */
  #makeRoom(): void {
    for (const [id, kept] of this.#older) {
      if (!this.#isFull(SHARE_LEFT)) break;
      this.#forgetOlder(id, kept);
      this.#keepBare(kept);
    }
    while (this.#isFull()) {
      const oldest = this.#young.shift();
      if (!oldest) break;
      if (!this.#isSeen(oldest)) this.#keepBare(oldest);
    }
  }

  #isFull(share = 1): boolean {
    const bytes = this.#olderBytes + this.#young.bytes;
    return this.#older.size + this.#young.size > MOST_WHOLE * share || bytes > MOST_WHOLE_BYTES * share;
  }

  #forgetOlder(deliveryId: DeliveryId, { text }: TimedText): void {
    this.#older.delete(deliveryId);
    this.#olderBytes -= text.length;
  }

  #keepBare(kept: TimedText): void {
    this.#bare.push(kept.atMs, messageKey(partitionOfPacked(kept), deliveryIdOfPacked(kept)));
    this.#options.onBare?.();
  }
}

/**
 * One message as one text, a line each: its delivery, its partition, how long it is kept in any case (ms), when it was taken, its
 * conversation's id, and the keys and the arguments, an empty line for each that it lacks. None of them has a line break, and all
 * are plain ASCII.
 */
function pack({ deliveryId, conversation: { id, partition }, keys, args, takenAtMs }: AcceptedMessage): string {
  const leastMs = args.mergeKey === NEVER_MERGED ? KEEP_WORDS_MS : KEEP_MS;
  const lines: unknown[] = [deliveryId, partition, leastMs, takenAtMs, id];
  for (const name of KEY_NAMES) lines.push(keys[name]);
  for (const name of ARG_NAMES) lines.push(args[name]);
  return lines.join('\n');
}

function unpack({ text }: TimedText): AcceptedMessage {
  const [deliveryId = '', partition, , takenAtMs, id = '', ...lines] = text.split('\n');
  const given = (names: readonly string[], from: number) =>
    Object.fromEntries(names.map((name, at) => [name, lines[from + at] === '' ? undefined : lines[from + at]]));
  const keys = given(KEY_NAMES, 0) as unknown as AcceptKeys;
  const args = given(ARG_NAMES, KEY_NAMES.length) as unknown as AcceptArgs;
  return {
    deliveryId: asDeliveryId(deliveryId),
    conversation: { id: asConversationId(id), partition: Number(partition) },
    ...{ keys, args, takenAtMs: Number(takenAtMs) },
  };
}

function deliveryIdOfPacked({ text }: TimedText): DeliveryId {
  return asDeliveryId(text.slice(0, text.indexOf('\n')));
}

function partitionOfPacked({ text }: TimedText): number {
  return Number(text.split('\n', 2)[1]);
}

function leastLifeMs({ text }: TimedText): number {
  return Number(text.split('\n', 3)[2]);
}

function afterLast(text: string, sign: string): string {
  return text.slice(text.lastIndexOf(sign) + 1);
}

function eachOnce<Entry extends { deliveryId: DeliveryId }>(entries: Iterable<Entry>): Entry[] {
  const byId = new Map<string, Entry>();
  for (const entry of entries) byId.set(entry.deliveryId, entry);
  return [...byId.values()];
}
