import { DAY_MS, MINUTE_MS, type NowMs } from '../base/clock.ts';
import { loadScript } from '../base/lua-script.ts';
import { usageKey } from '../base/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';

const countScript = loadScript(import.meta.url, './scripts/count-usage.lua');

const COUNTED_LIFE_MS = 10 * MINUTE_MS;
const DAY_LIFE_MS = 2 * DAY_MS;
const MONTH_LIFE_MS = 40 * DAY_MS;

/** What a person used within a day or a month. */
export interface Usage {
  questions: number;
  /** Of prompts and answers together. */
  tokens: number;
}

/** How much each person asks: counters under their pseudonym, by the days and months of this machine's clock. Nothing of what was said. */
export class UsageStore {
  readonly #redis: RedisClient;
  readonly #nowMs: NowMs;

  constructor(redis: RedisClient, nowMs: NowMs) {
    this.#redis = redis;
    this.#nowMs = nowMs;
  }

  /** Counts an answered turn. Safe to repeat. @param personId the person's pseudonym (`personIdOf`) */
  async count(personId: string, turn: { turnId: string; questions: number; tokens: number }): Promise<void> {
    const { day, month } = this.#periods();
    await countScript.run(
      this.#redis,
      [usageKey(personId, `turn:${turn.turnId}`), usageKey(personId, day), usageKey(personId, month)],
      [COUNTED_LIFE_MS, turn.questions, Math.round(turn.tokens), DAY_LIFE_MS, MONTH_LIFE_MS],
    );
  }

  async read(personId: string): Promise<{ today: Usage; thisMonth: Usage }> {
    const { day, month } = this.#periods();
    const [today, thisMonth] = await Promise.all(
      [day, month].map(async (period) => readUsage(await this.#redis.hgetall(usageKey(personId, period)))),
    );
    return { today: today as Usage, thisMonth: thisMonth as Usage };
  }

  #periods(): { day: string; month: string } {
    const now = new Date(this.#nowMs());
    const month = `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, '0')}`;
    return { month, day: `${month}-${String(now.getDate()).padStart(2, '0')}` };
  }
}

function readUsage(counters: Record<string, string>): Usage {
  return { questions: Number(counters['questions'] ?? 0), tokens: Number(counters['tokens'] ?? 0) };
}
