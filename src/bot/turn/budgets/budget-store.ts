import { Cluster } from 'ioredis';
import { DAY_MS, MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localTime } from '../../../shared/local-time.ts';
import { RecentValues } from '../../../shared/recent-values.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { budgetKeys, type BudgetKeys } from '../../domain/partition-keys.ts';
import { BUDGET_SUMS } from '../../domain/budget-sums.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { BudgetCharge } from '../../domain/turn.ts';
import { BUDGET_LIMITS, type AppliedBudget, type Budget, type BudgetLimit } from '../../policy/budget.ts';

/** What a question is expected to use, or has used. */
export interface BudgetUse {
  questions: number;
  tokens: number;
  images: number;
}

/** Whose budget it is: a person's id, department code, group id or model. */
export type BudgetOwner = Pick<AppliedBudget, 'of' | 'code'>;

/** Where one budget is counted. */
export interface BudgetPlace extends BudgetKeys {
  limits: Budget;
}

/** The limit of a budget, by the budget's position. */
export interface LimitAt {
  at: number;
  limit: BudgetLimit;
}

export type Reservation =
  /** `near`: limits of which four fifths are used now, each reported once. */
  | { kind: 'reserved'; near: readonly LimitAt[] }
  /** `isInProgress`: only because of questions in progress. */
  | { kind: 'used-up'; usedUp: LimitAt; isInProgress: boolean };

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
/** Owners whose pseudonyms a process remembers. */
const MAX_REMEMBERED = 2_048;

const reserveScript = loadScript(import.meta.url, './scripts/reserve-budgets.lua', {
  libraries: [BUDGET_SUMS],
  constants: { RESERVED_MS },
  keys: ['first'],
  args: ['turnId', 'day', 'questions', 'tokens', 'images', 'lifeMs', 'warnAt', 'budgets'],
  answer: { usedUp: 'number', limit: ['', ...BUDGET_LIMITS], isInProgress: 'flag', warnings: 'texts' },
});

/** Use of budgets in Redis: one hash per owner and month. The commit charges it (queue/settle-budgets.ts). */
export class BudgetStore {
  readonly #options: BudgetStoreOptions;
  readonly #pseudonyms = new RecentValues<string>(MAX_REMEMBERED);

  constructor(options: BudgetStoreOptions) {
    this.#options = options;
  }

  /** Where a question that is asked now is counted. */
  placeOf(owner: BudgetOwner, limits: Budget, turnId: DeliveryId): BudgetPlace {
    const { used, reserved, charged } = this.#keysOf(owner, turnId);
    return { used, reserved, charged, limits };
  }

  /** Reserves the expected use in all budgets, or in none. One call, but one for each budget on a cluster. */
  async reserve(places: readonly BudgetPlace[], turnId: DeliveryId, use: BudgetUse): Promise<Reservation> {
    if (!(this.#options.redis instanceof Cluster)) return this.#reserve(places, turnId, use);
    const near: LimitAt[] = [];
    for (const [at, place] of places.entries()) {
      const one = await this.#reserve([place], turnId, use);
      if (one.kind === 'used-up') return { ...one, usedUp: { ...one.usedUp, at } };
      near.push(...one.near.map(({ limit }) => ({ at, limit })));
    }
    return { kind: 'reserved', near };
  }

  async #reserve(places: readonly BudgetPlace[], turnId: DeliveryId, use: BudgetUse): Promise<Reservation> {
    const [first] = places;
    if (!first) return { kind: 'reserved', near: [] };
    const { usedUp, limit, isInProgress, warnings } = await reserveScript.run(
      this.#options.redis,
      { first: first.used },
      {
        turnId,
        day: this.#today().day,
        questions: use.questions,
        tokens: Math.ceil(use.tokens),
        images: use.images,
        lifeMs: LIFE_MS,
        warnAt: WARN_AT_SHARE,
        budgets: JSON.stringify(places),
      },
    );
    if (limit !== '') return { kind: 'used-up', usedUp: { at: usedUp - 1, limit }, isInProgress };
    return { kind: 'reserved', near: warnings.map(readWarning) };
  }

  /** What replaces a reservation. A use of nothing gives it back. */
  chargeOf({ used, reserved, charged }: BudgetPlace, use: BudgetUse): BudgetCharge {
    return {
      used,
      reserved,
      charged,
      day: this.#today().day,
      questions: use.questions,
      tokens: Math.ceil(use.tokens),
      images: use.images,
      lifeMs: LIFE_MS,
      chargedMs: CHARGED_MS,
    };
  }

  /** What is used of each limit today or this month, and what was added to it. Questions in progress count when they end. */
  async usage(owner: BudgetOwner): Promise<Record<BudgetLimit, { used: number; added: number }>> {
    const { used } = this.#keysOf(owner, '');
    const fields = BUDGET_LIMITS.map((limit) => this.#fieldOf(limit));
    const counts = await this.#options.redis.hmget(used, ...fields, ...fields.map((field) => `+${field}`));
    const count = (at: number) => Number(counts[at] ?? 0);
    const rows = BUDGET_LIMITS.map((limit, at) => [limit, { used: count(at), added: count(at + fields.length) }]);
    return Object.fromEntries(rows) as Record<BudgetLimit, { used: number; added: number }>;
  }

  /** What is left of each limit, and the limit with what was added to it. */
  async left({ of, code, limits }: AppliedBudget): Promise<{ left: Budget; total: Budget }> {
    const usage = await this.usage({ of, code });
    const [left, total]: [Budget, Budget] = [{}, {}];
    for (const name of BUDGET_LIMITS) {
      const limit = limits[name];
      if (limit === undefined) continue;
      total[name] = limit + usage[name].added;
      left[name] = Math.max(0, total[name] - usage[name].used);
    }
    return { left, total };
  }

  /** Adds to a limit until the end of its day or month. @returns all that was added to it */
  async topUp(owner: BudgetOwner, limit: BudgetLimit, amount: number): Promise<number> {
    const { used } = this.#keysOf(owner, '');
    const isDaily = limit.endsWith('Day');
    const mark = `w:${isDaily ? `${this.#today().day}:` : ''}${limit}`;
    const step = this.#options.redis.multi();
    step
      .hincrby(used, `+${this.#fieldOf(limit)}`, amount)
      .hdel(used, mark)
      .pexpire(used, LIFE_MS);
    const results = await step.exec();
    return Number(results?.[0]?.[1] ?? 0);
  }

  #keysOf(owner: BudgetOwner, turnId: string): BudgetKeys {
    return budgetKeys(this.#pseudonymOf(owner), { month: this.#today().month, turnId });
  }

  #pseudonymOf({ of, code }: BudgetOwner): string {
    const name = `${of}:${code}`;
    const known = this.#pseudonyms.get(name);
    if (known !== undefined) return known;
    const pseudonym = this.#options.keyRing.pseudonym('budget', name);
    this.#pseudonyms.set(name, pseudonym);
    return pseudonym;
  }

  #fieldOf(limit: BudgetLimit): string {
    const [kind, period] = limit.split('Per');
    return period === 'Day' ? `${this.#today().day}:${kind}` : (kind as string);
  }

  #today(): { day: string; month: string } {
    const { date } = localTime(this.#options.nowMs(), this.#options.timeZone);
    return { day: date.slice(-'DD'.length), month: date.slice(0, 'YYYY-MM'.length) };
  }
}

function readWarning(warning: string): LimitAt {
  const [number, limit] = warning.split(':');
  return { at: Number(number) - 1, limit: limit as BudgetLimit };
}
