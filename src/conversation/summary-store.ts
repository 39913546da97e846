import type { KeyRing } from '../base/key-ring.ts';
import { loadScript } from '../base/lua-script.ts';
import { conversationKeys } from '../base/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import { readHistory, type KeptTurn } from './read-history.ts';
import { sealSummary, type ConversationSummary } from './summary.ts';

const writeScript = loadScript(import.meta.url, './scripts/write-summary.lua');

/** What a new summary starts from. */
export interface SummarySource {
  /** All turns that are kept, oldest first. */
  kept: KeptTurn[];
  /** The older summary as it stands in Redis; empty when there is none. */
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

  /** The older summary is read first: a turn that comes between is only not covered yet. */
  async read(conversation: ConversationRef): Promise<SummarySource> {
    const startedFrom = (await this.#redis.get(conversationKeys(conversation).summary)) ?? '';
    return { startedFrom, kept: await readHistory(this.#redis, this.#keyRing, conversation) };
  }

  /** @returns false when what it was made from does not stand any more; then nothing is written */
  async write(
    conversation: ConversationRef,
    summary: ConversationSummary,
    madeFrom: { startedFrom: string; newestCovered: string },
  ): Promise<boolean> {
    const keys = conversationKeys(conversation);
    const sealed = sealSummary(this.#keyRing, conversation.id, summary);
    const { startedFrom, newestCovered } = madeFrom;
    const args = [startedFrom, newestCovered, sealed, this.#lifeMs];
    return (await writeScript.run(this.#redis, [keys.summary, keys.history], args)) === 'written';
  }
}
