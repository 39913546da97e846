import { DAY_MS, HOUR_MS } from '../../shared/clock.ts';
import { hashParts } from '../../shared/crypto/ids.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { AnswerOf, ScriptShape } from '../../shared/redis/script-shape.ts';
import { fieldsToRead, postFieldOf } from '../domain/message-record.ts';
import { conversationKeys, messageKey, messageKeyPrefix, placeKey } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { TURN_NEWS } from '../domain/turn-news.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { TurnTrace } from '../domain/turn-trace.ts';

/** Lifetime of a place's posts; longer than any answer stays unfinished. */
const PLACE_LIFE_MS = 2 * HOUR_MS;
const POST_SHAPE = {
  libraries: [TURN_NEWS],
  constants: { RECORD_LIFE_MS: DAY_MS, PLACE_LIFE_MS },
  keys: ['state', 'record', 'place'],
  args: ['epoch', 'part', 'handle?', 'answer?', 'isUnsent', 'deliveryId', 'left?', 'doubtedAgeMs', 'did?'],
  answer: { verdict: ['stale', 'gone', 'ok'], known: 'text', sinceMs: 'number', isOwn: 'flag', left: 'text' },
} as const satisfies ScriptShape;
const postScript = loadScript(import.meta.url, './scripts/post.lua', POST_SHAPE);
const claimScript = loadScript(import.meta.url, './scripts/claim-stray.lua', {
  constants: { PLACE_LIFE_MS },
  keys: ['place'],
  args: ['handle', 'asker', 'messagePrefix', 'settledAfterMs'],
  answer: ['owned', 'doubtful', 'mine', 'nobody'],
});
const withdrawScript = loadScript(import.meta.url, './scripts/withdraw.lua', {
  keys: ['state', 'record', 'place'],
  args: ['epoch', 'part', 'deliveryId'],
  answer: 'flag',
});

/**
 * State of one part of an answer: nothing posted; possibly posted (`sinceMs` ago by Redis' clock, `isOwn` if this worker
 * wrote the note); posted under a handle; or `gone`: this worker's post was recorded too late and is being removed.
 */
export type PostState = (
  | { kind: 'unsent' | 'gone' }
  | { kind: 'posting'; sinceMs: number; isOwn: boolean }
  | { kind: 'posted'; handle: string }
) & {
  /** Handles that the part has abandoned because the platform no longer edits them. */
  left?: readonly string[];
};

/**
 * Owner of a message without a key: a record, possibly another turn, certainly this part, or unknown. The message may be
 * removed in the last two cases.
 */
export type OrphanVerdict = 'owned' | 'doubtful' | 'mine' | 'nobody';

/**
 * The ledger of an answer's posts, in the message's record, fenced by the conversation's epoch
 * (SECURITY.md noted-before-posted).
 */
export interface PostLedger {
  /**
   * Called before a post or an edit.
   * @param noted recorded in the same step
   * @returns the known state; undefined if a newer epoch has taken over
   */
  begin(part: number, noted?: LedgerNote): Promise<PostState | undefined>;
  /** Called after a post, with its handle. @returns undefined if a newer epoch has taken over */
  record(part: number, handle: string): Promise<PostState | undefined>;
  /** The recorded value of a part, read without the fence; undefined if there is none. */
  known(part: number): Promise<string | undefined>;
  /** Clears the note that a part may have been posted. Called when this worker knows that the part was not posted. */
  withdraw(part: number): Promise<void>;
  /** Claims a message that may be unowned. @param settledAfterMs age from which no post can still arrive */
  claimStray(part: number, handle: string, settledAfterMs: number): Promise<OrphanVerdict>;
}

export interface LedgerNote {
  /** Handle of the part, if it is not recorded yet. */
  handle?: string;
  /** The sealed full answer, set right before its final snapshot (SECURITY.md noted-before-posted). */
  answer?: string;
  /** True if this worker knows that no post of the part is in flight, so that a post may be sent now. */
  isUnsent?: boolean;
  /** Handle that the part abandons: the platform no longer edits it, and a new message will be posted. */
  left?: string;
}

export interface PostLedgerOptions {
  redis: RedisClient;
  conversation: ConversationRef;
  epoch: number;
  deliveryId: DeliveryId;
  /** The platform's name for the place (chat or thread) of the answer. */
  place: string;
  /** What the worker did so far, stored with the ledger. Absent after the end of the turn. */
  trace?: Pick<TurnTrace, 'text'>;
  /** Assumed age of a post whose note may have been lost in a failover. Milliseconds. */
  doubtedAgeMs: number;
}

export function createPostLedger(options: PostLedgerOptions): PostLedger {
  const { redis, conversation, epoch, deliveryId, place, doubtedAgeMs, trace } = options;
  const { partition } = conversation;
  const keys = {
    state: conversationKeys(conversation).state,
    record: messageKey(partition, deliveryId),
    place: placeKey(partition, hashParts('place', place).slice(0, 32)),
  };
  const run = async (part: number, { handle, answer, isUnsent = false, left }: LedgerNote) => {
    const args = { epoch, part, handle, answer, isUnsent, deliveryId, left, doubtedAgeMs, did: trace?.text() };
    return readState(await postScript.run(redis, keys, args));
  };
  return {
    begin: (part, noted = {}) => run(part, noted),
    record: (part, handle) => run(part, { handle }),
    async known(part) {
      const [noted] = await redis.hmget(keys.record, ...fieldsToRead(postFieldOf(part)));
      return noted ?? undefined;
    },
    async withdraw(part) {
      await withdrawScript.run(redis, keys, { epoch, part, deliveryId });
    },
    claimStray(part, handle, settledAfterMs) {
      const asker = `${deliveryId}:${part}`;
      return claimScript.run(redis, keys, {
        handle,
        asker,
        messagePrefix: messageKeyPrefix(partition),
        settledAfterMs,
      });
    },
  };
}

function readState({ verdict, known, sinceMs, isOwn, left: kept }: AnswerOf<typeof POST_SHAPE>): PostState | undefined {
  const left = kept === '' ? [] : kept.split(' ');
  if (verdict === 'stale') return undefined;
  if (verdict === 'gone') return { kind: 'gone', left };
  if (known === 'unsent') return { kind: 'unsent', left };
  return known === 'posting' ? { kind: 'posting', sinceMs, isOwn, left } : { kind: 'posted', handle: known, left };
}

/** The key under which any worker can find a part of an answer on the platform. */
export function postKeyOf(deliveryId: DeliveryId, part: number): string {
  return hashParts('post', deliveryId, String(part)).slice(0, 32);
}
