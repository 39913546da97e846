import { DAY_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localTime } from '../../../shared/local-time.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { budgetKeys, type BudgetKeys } from '../../domain/partition-keys.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { AppliedBudget, Budget } from '../../policy/budget.ts';

/** The limit that is used up, or of which four fifths are used. */
export type BudgetLimit = keyof Budget;

/** What a question is expected to use, or has used. */
export interface BudgetUse {
  questions: number;
  tokens: number;
}

export interface BudgetStoreOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  timeZone: string;
}

/** The last day of a month may be read until the end of the next one. */
const LIFE_MS = 40 * DAY_MS;
/** Longer than a question can wait and be answered. */
const RESERVED_MS = 60 * MINUTE_MS;
/** No turn runs again after this time. */
const CHARGED_MS = DAY_MS;
const WARN_AT_SHARE = 0.8;

const reserveScript = loadScript(import.meta.url, './scripts/reserve-budget.lua', {
  constants: { RESERVED_MS },
  keys: ['used', 'reserved', 'charged'],
  args: [
    ...(['turnId', 'day', 'questions', 'tokens', 'questionsPerDay?', 'tokensPerDay?', 'tokensPerMonth?'] as const),
    ...(['lifeMs', 'warnAt'] as const),
  ],
  answer: {
    verdict: ['granted', 'questionsPerDay', 'tokensPerDay', 'tokensPerMonth'],
    isInProgress: 'flag',
    warning: ['', 'questionsPerDay', 'tokensPerDay', 'tokensPerMonth'],
  },
});
const chargeScript = loadScript(import.meta.url, './scripts/charge-budget.lua', {
  keys: ['used', 'reserved', 'charged'],
  args: ['turnId', 'day', 'questions', 'tokens', 'lifeMs', 'chargedMs'],
  answer: 'flag',
});

/** Use of budgets in Redis: one hash per person or department and month. All writes can be repeated. */
export class BudgetStore {
  readonly #options: BudgetStoreOptions;

  constructor(options: BudgetStoreOptions) {
    this.#options = options;
  }

  /**
   * @param subject the person's id, for a person's budget
   * @returns the limit that is used up, if there is one, and whether only because of questions in progress
   */
  async reserve(
    budget: AppliedBudget,
    { subject, turnId, use }: { subject: string; turnId: DeliveryId; use: BudgetUse },
  ): Promise<{ usedUp?: BudgetLimit; isInProgress: boolean; warning?: BudgetLimit }> {
    const { keys, day } = this.#place(budget, subject, turnId);
    const args = { turnId, day, ...rounded(use), ...budget.limits, lifeMs: LIFE_MS, warnAt: WARN_AT_SHARE };
    const { verdict, isInProgress, warning } = await reserveScript.run(this.#options.redis, keys, args);
    return {
      usedUp: verdict === 'granted' ? undefined : verdict,
      isInProgress,
      warning: warning === '' ? undefined : warning,
    };
  }

  /** Replaces the reservation. A use of nothing gives it back. */
  async charge(
    budget: AppliedBudget,
    { subject, turnId, use }: { subject: string; turnId: DeliveryId; use: BudgetUse },
  ): Promise<void> {
    const { keys, day } = this.#place(budget, subject, turnId);
    const args = { turnId, day, ...rounded(use), lifeMs: LIFE_MS, chargedMs: CHARGED_MS };
    await chargeScript.run(this.#options.redis, keys, args);
  }

  /** What is left of each limit. Questions in progress count when they end. */
  async left(budget: AppliedBudget, subject: string): Promise<Budget> {
    const { keys, day } = this.#place(budget, subject, '');
    const [questions, tokens, monthly] = await this.#options.redis.hmget(
      keys.used,
      `${day}:questions`,
      `${day}:tokens`,
      'tokens',
    );
    const rest = (limit: number | undefined, used: string | null | undefined) =>
      limit === undefined ? undefined : Math.max(0, limit - Number(used ?? 0));
    const { questionsPerDay, tokensPerDay, tokensPerMonth } = budget.limits;
    return {
      questionsPerDay: rest(questionsPerDay, questions),
      tokensPerDay: rest(tokensPerDay, tokens),
      tokensPerMonth: rest(tokensPerMonth, monthly),
    };
  }

  #place(budget: AppliedBudget, subject: string, turnId: string): { keys: BudgetKeys; day: string } {
    const { keyRing, nowMs, timeZone } = this.#options;
    const { date } = localTime(nowMs(), timeZone);
    const whose = budget.of === 'person' ? `person:${subject}` : `department:${budget.code}`;
    const month = date.slice(0, 'YYYY-MM'.length);
    const keys = budgetKeys(keyRing.pseudonym('budget', whose), { month, turnId });
    return { keys, day: date.slice(-'DD'.length) };
  }
}

function rounded({ questions, tokens }: BudgetUse): BudgetUse {
  return { questions, tokens: Math.ceil(tokens) };
}
