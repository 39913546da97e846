import { DAY_MS, HOUR_MS, MIB_BYTES, MINUTE_MS, type NowMs, monotonicMs } from '../../shared/clock.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { TimedTextBuffer, type TimedText } from '../../shared/ring-buffer.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../domain/ids.ts';
import { bareName } from '../../shared/redis/script-shape.ts';
import { ACCEPT_SHAPE, type AcceptArgs, type AcceptKeys } from './accept-shape.ts';
import { NEVER_MERGED } from './inbox-entry.ts';

/** Minimum time that a message is kept. A replica that is further behind is broken. */
const MIN_KEEP_MS = MINUTE_MS;
/**
 * Minimum time for messages that are never merged, such as slash commands: they may have changed state that no answer shows
 * (/forget, /unlink). They are few.
 */
const MIN_KEEP_COMMAND_MS = HOUR_MS;
/** Maximum time that a message is kept. A delivery is not remembered longer. */
const MAX_KEEP_MS = DAY_MS;
const MAX_MESSAGES = 20_000;
const MAX_MESSAGES_BYTES = 16 * MIB_BYTES;
/** Fraction of both maximums that is kept after one was exceeded. */
const TRIM_TO_FRACTION = 31 / 32;
/** Maximum messages that a full buffer keeps by id only, enough to report their loss. */
const MAX_BARE = 100_000;
const KEEP_BARE_MS = HOUR_MS;
const KEY_NAMES = ACCEPT_SHAPE.keys.map(bareName) as readonly (keyof AcceptKeys)[];
/** Without the history of Redis, which has changed when a message is stored again. */
const ARG_NAMES = ACCEPT_SHAPE.args.map(bareName).filter((name) => name !== 'history') as readonly (keyof AcceptArgs)[];

/** An acknowledged message as stored, with everything needed to store it again. Its text is encrypted. */
export interface AcceptedMessage {
  deliveryId: DeliveryId;
  conversation: ConversationRef;
  /** Keys and arguments of accept.lua. */
  keys: AcceptKeys;
  args: AcceptArgs;
  /** Acceptance time by the Redis clock, so that all receivers that replay messages of one conversation use one clock. */
  takenAtMs: number;
}

/** Identifies a message that is kept by id only. */
export type AcceptedId = Pick<AcceptedMessage, 'deliveryId'> & { recordKey: string };

export interface ReplayBufferOptions {
  /** Called when a message is reduced to its id because too many wait. */
  onReducedToId?: () => void;
  /** Defaults to the monotonic clock. */
  nowMs?: NowMs;
}

/**
 * Messages acknowledged by this receiver that a new Redis master may have lost (RELIABILITY.md failover); this buffer is
 * then the only copy. Holds all messages of the last minute and older ones that still wait for their answer, at most 20,000
 * messages and 16 MiB.
 */
export class ReplayBuffer {
  readonly #options: ReplayBufferOptions;
  readonly #nowMs: NowMs;
  /** Packed; see `pack`. */
  readonly #young = new TimedTextBuffer();
  /** Messages older than a minute by delivery id, oldest first; packed. */
  readonly #older = new Map<DeliveryId, TimedText>();
  #olderBytes = 0;
  /** Keys of records. */
  readonly #bare = new TimedTextBuffer();
  /** Completely seen answers of this minute and the one before, which covers all of `#young`. */
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

  /** Returns all kept messages, oldest first, without duplicates. */
  all(): { whole: AcceptedMessage[]; bare: AcceptedId[] } {
    this.#trim(this.#nowMs());
    this.#forgetOverdue();
    const kept = [...this.#older.values(), ...this.#young].filter((one) => !this.#isSeen(one));
    return {
      whole: eachOnce(kept.map(unpack)),
      bare: eachOnce(
        [...this.#bare].map(({ text }) => ({
          deliveryId: asDeliveryId(text.slice(text.lastIndexOf(':') + 1)),
          recordKey: text,
        })),
      ),
    };
  }

  /** Returns the delivery ids of messages that are kept only while they wait, by partition. */
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

  /** Drops answered messages. */
  forgetAnswered(deliveryIds: readonly DeliveryId[]): void {
    for (const id of deliveryIds) {
      const kept = this.#older.get(id);
      if (kept && this.#nowMs() - kept.atMs >= minLifeMs(kept)) this.#forgetOlder(id, kept);
    }
  }

  /**
   * Drops a message whose sender has seen the complete answer, because a replay would answer it twice. Commands with an
   * effect stay.
   */
  forgetSeen(deliveryId: DeliveryId): void {
    if (this.#older.has(deliveryId)) return this.forgetAnswered([deliveryId]);
    const nowMs = this.#nowMs();
    if (nowMs - this.#seenSinceMs >= MIN_KEEP_MS || this.#seen.size >= MAX_MESSAGES) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
      this.#seenSinceMs = nowMs;
    }
    this.#seen.add(deliveryId);
  }

  #isSeen(kept: TimedText): boolean {
    const id = deliveryIdOfPacked(kept);
    return (this.#seen.has(id) || this.#seenBefore.has(id)) && minLifeMs(kept) === MIN_KEEP_MS;
  }

  /** Stops at the first entry that may stay, oldest first. */
  #trim(nowMs: number): void {
    while (nowMs - (this.#young.oldestAtMs ?? nowMs) >= MIN_KEEP_MS) this.#growOld();
    if (this.#isFull()) this.#makeRoom();
    while (this.#bare.size > MAX_BARE || nowMs - (this.#bare.oldestAtMs ?? nowMs) >= KEEP_BARE_MS) this.#bare.shift();
  }

  /** Moves the oldest young message to `#older`, without duplicates. Drops it if its answer was seen. */
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
      if (nowMs - kept.atMs < MAX_KEEP_MS) return;
      this.#forgetOlder(id, kept);
    }
  }

  /**
   * Removes older messages in batches: finding a map's first entry walks over all deleted entries before it, so that one
   * removal per message would cost more than the rest of the work.
   */
  #makeRoom(): void {
    for (const [id, kept] of this.#older) {
      if (!this.#isFull(TRIM_TO_FRACTION)) break;
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
    return this.#older.size + this.#young.size > MAX_MESSAGES * share || bytes > MAX_MESSAGES_BYTES * share;
  }

  #forgetOlder(deliveryId: DeliveryId, { text }: TimedText): void {
    this.#older.delete(deliveryId);
    this.#olderBytes -= text.length;
  }

  #keepBare(kept: TimedText): void {
    this.#bare.push(kept.atMs, messageKey(partitionOfPacked(kept), deliveryIdOfPacked(kept)));
    this.#options.onReducedToId?.();
  }
}

/**
 * Packs a message into one text, one line each: delivery id, partition, minimum life (ms), acceptance time, conversation id,
 * keys, arguments. A missing value is an empty line. No value contains a line break, and all are plain ASCII.
 */
function pack({ deliveryId, conversation: { id, partition }, keys, args, takenAtMs }: AcceptedMessage): string {
  const minMs = args.mergeKey === NEVER_MERGED ? MIN_KEEP_COMMAND_MS : MIN_KEEP_MS;
  const lines: unknown[] = [deliveryId, partition, minMs, takenAtMs, id];
  for (const name of KEY_NAMES) lines.push(keys[name]);
  for (const name of ARG_NAMES) lines.push(asLine(args[name]));
  return lines.join('\n');
}

/** Flags are packed as they are sent to a script. */
function asLine(value: AcceptArgs[keyof AcceptArgs]): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
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

function minLifeMs({ text }: TimedText): number {
  return Number(text.split('\n', 3)[2]);
}

function eachOnce<Entry extends { deliveryId: DeliveryId }>(entries: Iterable<Entry>): Entry[] {
  const byId = new Map<string, Entry>();
  for (const entry of entries) byId.set(entry.deliveryId, entry);
  return [...byId.values()];
}
