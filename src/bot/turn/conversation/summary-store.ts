import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { conversationKeys } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { readHistory, type KeptTurn } from './read-history.ts';
import { sealSummary, type ConversationSummary } from './summary.ts';
import type { UsageChange } from '../../domain/turn.ts';

/** A summary that did not come about is asked for again after so long, then after twice as long, and so on. */
const FIRST_WAIT_MS = 2 * MINUTE_MS;
const LONGEST_WAIT_MS = 6 * HOUR_MS;
const tryScript = loadScript(import.meta.url, './scripts/try-summary.lua', {
  constants: { FIRST_WAIT_MS, LONGEST_WAIT_MS, ABSENT_MS: DAY_MS },
  keys: ['summary'],
  args: ['startedFrom', 'name'],
  answer: { verdict: ['begun', 'stale', 'waits'], noted: 'text' },
});
const writeScript = loadScript(import.meta.url, './scripts/write-summary.lua', {
  keys: ['summary', 'history', 'usage?'],
  args: ['startedFrom', 'newestCovered', 'sealed', 'lifeMs', 'usageLifeMs?', '...counts'],
  answer: ['written', 'stale'],
});

const TRY_NAME_BYTES = 9;

/** What a new summary starts from. */
export interface SummarySource {
  /** All turns that are kept, oldest first. */
  kept: KeptTurn[];
  /** The older summary as it stands in Redis, with what is noted of tries; empty when there is neither. */
  startedFrom: string;
}

/** Reads what summaries are made from, and writes them under their fence. */
export class SummaryStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #lifeMs: number;

  /** @param lifeMs how long a conversation's history is kept after its last turn */
  constructor(redis: RedisClient, keyRing: KeyRing, lifeMs: number) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#lifeMs = lifeMs;
  }

  /** Sent together, the older summary first: a turn that comes between is only not covered yet. */
  async read(conversation: ConversationRef): Promise<SummarySource> {
    const [startedFrom, kept] = await Promise.all([
      this.#redis.get(conversationKeys(conversation).summary),
      readHistory(this.#redis, this.#keyRing, conversation),
    ]);
    return { startedFrom: startedFrom ?? '', kept };
  }

  /**
   * Notes that a summary is about to be made, so that one that does not come about is not paid for at each question.
   * @returns what the new one starts from now; undefined when there is to be none: it is too soon after the last try, or
   *          what stood there does not stand any more
   */
  async begin(conversation: ConversationRef, startedFrom: string): Promise<string | undefined> {
    const args = { startedFrom, name: randomToken(TRY_NAME_BYTES) };
    const { verdict, noted } = await tryScript.run(this.#redis, conversationKeys(conversation), args);
    return verdict === 'begun' ? noted : undefined;
  }

  /**
   * Writes a summary, and in the same step what it cost.
   * @param usage lies in the conversation's partition
   * @returns false when what it was made from does not stand any more; then nothing is written
   */
  async write(
    conversation: ConversationRef,
    summary: ConversationSummary,
    madeFrom: { startedFrom: string; newestCovered: string },
    usage?: UsageChange,
  ): Promise<boolean> {
    const sealed = sealSummary(this.#keyRing, conversation.id, summary);
    const used = { usageLifeMs: usage?.lifeMs, counts: Object.entries(usage?.add ?? {}).flat() };
    const keys = { ...conversationKeys(conversation), usage: usage?.key };
    const args = { ...madeFrom, sealed, lifeMs: this.#lifeMs, ...used };
    return (await writeScript.run(this.#redis, keys, args)) === 'written';
  }
}
