import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { conversationKeys } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { readHistory, type StoredTurn } from './read-history.ts';
import { sealSummary, type ConversationSummary } from './summary.ts';
import type { UsageChange } from '../../domain/turn.ts';

/** Wait before a failed summary is attempted again; doubles with each attempt. */
const FIRST_WAIT_MS = 2 * MINUTE_MS;
const MAX_WAIT_MS = 6 * HOUR_MS;
const tryScript = loadScript(import.meta.url, './scripts/try-summary.lua', {
  constants: { FIRST_WAIT_MS, MAX_WAIT_MS, ABSENT_MS: DAY_MS },
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

/** Input of a new summary. */
export interface SummarySource {
  /** All stored turns, oldest first. */
  kept: StoredTurn[];
  /** The older summary as stored in Redis, including recorded attempts; empty if there is neither. */
  startedFrom: string;
}

/** Reads the input of summaries and writes summaries if their input is unchanged. */
export class SummaryStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #lifeMs: number;

  /** @param lifeMs retention of a conversation's history after its last turn */
  constructor(redis: RedisClient, keyRing: KeyRing, lifeMs: number) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#lifeMs = lifeMs;
  }

  /** The commands are sent together, the older summary first: a turn that arrives in between is only not covered yet. */
  async read(conversation: ConversationRef): Promise<SummarySource> {
    const [startedFrom, kept] = await Promise.all([
      this.#redis.get(conversationKeys(conversation).summary),
      readHistory(this.#redis, this.#keyRing, conversation),
    ]);
    return { startedFrom: startedFrom ?? '', kept };
  }

  /**
   * Records an attempt to create a summary, so that failing attempts are not paid for with each question.
   * @returns the new stored value to start from; undefined if no summary may be created, because the last attempt is too
   * recent or the stored value has changed
   */
  async begin(conversation: ConversationRef, startedFrom: string): Promise<string | undefined> {
    const args = { startedFrom, name: randomToken(TRY_NAME_BYTES) };
    const { verdict, noted } = await tryScript.run(this.#redis, conversationKeys(conversation), args);
    return verdict === 'begun' ? noted : undefined;
  }

  /**
   * Writes a summary and, in the same step, its usage.
   * @param usage must be in the conversation's partition
   * @returns false if the input of the summary no longer exists; then nothing is written
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
