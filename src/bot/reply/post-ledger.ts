import { DAY_MS, HOUR_MS } from '../../shared/clock.ts';
import { hashParts } from '../../shared/crypto/ids.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { AnswerOf, ScriptShape } from '../../shared/redis/script-shape.ts';
import { fieldsToRead, postFieldOf } from '../domain/message-record.ts';
import { conversationKeys, messageKey, messageKeyPrefix, placeKey } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Longer than any answer stays unfinished. */
const PLACE_LIFE_MS = 2 * HOUR_MS;
const POST_SHAPE = {
  constants: { RECORD_LIFE_MS: DAY_MS, PLACE_LIFE_MS },
  keys: ['state', 'record', 'place'],
  args: ['epoch', 'part', 'handle?', 'answer?', 'isUnsent', 'deliveryId', 'left?', 'doubtedAgeMs'],
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
 * What is known of one part of an answer: nothing left, something may have left (so long ago, ms by Redis' clock; whether this
 * worker wrote that down itself), where it stands, or that what this worker posted is being taken away, since nobody had noted it in time.
 */
export type PostState = (
  | { kind: 'unsent' | 'gone' }
  | { kind: 'posting'; sinceMs: number; isOwn: boolean }
  | { kind: 'posted'; handle: string }
) & {
  /** Messages that the part has left, since the platform took no more of them. */
  left?: readonly string[];
};

/** Whose a message without a key is: a record's, perhaps another turn's, ours for certain, or nobody's. Of the last two it is ours to take away. */
export type StrayVerdict = 'owned' | 'doubtful' | 'mine' | 'nobody';

/** The ledger of an answer's outside posts, in the message's record, fenced by the conversation's epoch (SECURITY.md noted-before-posted). */
export interface PostLedger {
  /**
   * Before a post or an edit. @param noted is written down in the same step
   * @returns what is known; undefined when a newer epoch has taken over
   */
  begin(part: number, noted?: Noted): Promise<PostState | undefined>;
  /** After a post. @returns undefined when a newer epoch has taken over */
  record(part: number, handle: string): Promise<PostState | undefined>;
  /** What stands noted of a part, without asking the fence; undefined while nothing does. */
  known(part: number): Promise<string | undefined>;
  /** Takes back that something may have left, which this worker knows not to be so. */
  withdraw(part: number): Promise<void>;
  /** Claims a message that may be nobody's. @param settledAfterMs age from which no post is under way any more */
  claimStray(part: number, handle: string, settledAfterMs: number): Promise<StrayVerdict>;
}

export interface Noted {
  /** Where the part stands, if that is not written down yet. */
  handle?: string;
  /** The sealed full answer, right before its last snapshot (SECURITY.md noted-before-posted). */
  answer?: string;
  /** Nothing of the part is under way, as this worker knows: a post may leave now. */
  isUnsent?: boolean;
  /** The message that the part leaves: the platform takes no more of it, and another is to be posted. */
  left?: string;
}

export interface PostLedgerOptions {
  redis: RedisClient;
  conversation: ConversationRef;
  epoch: number;
  deliveryId: DeliveryId;
  /** Where the answer stands among others, as the platform names it. */
  place: string;
  /** How old a post is taken to be of which nothing is noted, but a failover may have taken the note. Milliseconds. */
  doubtedAgeMs: number;
}

export function createPostLedger(options: PostLedgerOptions): PostLedger {
  const { redis, conversation, epoch, deliveryId, place, doubtedAgeMs } = options;
  const { partition } = conversation;
  const keys = {
    state: conversationKeys(conversation).state,
    record: messageKey(partition, deliveryId),
    place: placeKey(partition, hashParts('place', place).slice(0, 32)),
  };
  const run = async (part: number, { handle, answer, isUnsent = false, left }: Noted) => {
    const args = { epoch, part, handle, answer, isUnsent, deliveryId, left, doubtedAgeMs };
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

/** The key by which a part of an answer is found again in the platform; the same for every worker. */
export function postKeyOf(deliveryId: DeliveryId, part: number): string {
  return hashParts('post', deliveryId, String(part)).slice(0, 32);
}
