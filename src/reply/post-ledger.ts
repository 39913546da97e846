import { DAY_MS } from '../base/clock.ts';
import { hashParts } from '../base/ids.ts';
import { loadScript } from '../base/lua-script.ts';
import { conversationKeys, messageKey } from '../base/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';

const postScript = loadScript(import.meta.url, './scripts/post.lua', { RECORD_LIFE_MS: DAY_MS });

/** What is known of one part of an answer: nothing left, something may have left, or where it stands. */
export type PostState = { kind: 'unsent' | 'posting' } | { kind: 'posted'; handle: string };

/** The ledger of an answer's outside posts, in the message's record, fenced by the conversation's epoch (security.md 4.4). */
export interface PostLedger {
  /**
   * Before a post or an edit. @param noted is written down in the same step
   * @returns what is known; undefined when a newer epoch has taken over
   */
  begin(part: number, noted?: Noted): Promise<PostState | undefined>;
  /** After a post. @returns false when a newer epoch has taken over */
  record(part: number, handle: string): Promise<boolean>;
}

export interface Noted {
  /** Where the part stands, if that is not written down yet. */
  handle?: string | undefined;
  /** The sealed full answer, right before its last look (security.md 4.4). */
  answer?: string | undefined;
}

export interface PostLedgerOptions {
  redis: RedisClient;
  conversation: ConversationRef;
  epoch: number;
  deliveryId: string;
}

export function createPostLedger({ redis, conversation, epoch, deliveryId }: PostLedgerOptions): PostLedger {
  const keys = [conversationKeys(conversation).state, messageKey(conversation.partition, deliveryId)];
  const run = async (part: number, { handle = '', answer = '' }: Noted) =>
    (await postScript.run(redis, keys, [epoch, part, handle, answer])) as [string, string];
  return {
    async begin(part, noted = {}) {
      const [verdict, known] = await run(part, noted);
      if (verdict === 'stale') return undefined;
      return known === 'unsent' || known === 'posting' ? { kind: known } : { kind: 'posted', handle: known };
    },
    record: async (part, handle) => (await run(part, { handle }))[0] === 'ok',
  };
}

/** The field of a message's record that holds where a part of its answer stands; the commit may write it too. */
export function postFieldOf(part: number): string {
  return `post:${part}`;
}

/** The key by which a part of an answer is found again in the platform; the same for every worker. */
export function postKeyOf(deliveryId: string, part: number): string {
  return hashParts('post', deliveryId, String(part)).slice(0, 32);
}
