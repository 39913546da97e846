import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { accountMark } from '../audit/append-entry.ts';
import { peopleOfAccounts } from '../identity/links/people-of-account.ts';
import { BUDGET_LIMITS, type Budget, type BudgetLimit, type SharedBudgets } from '../policy/budget.ts';
import type { BudgetOwner, BudgetStore } from '../turn/budgets/budget-store.ts';

export const BUDGET_OWNERS = ['person', 'department', 'group', 'model'] as const satisfies readonly BudgetOwner['of'][];

/** A limit of a budget, and its use in the current day or month. */
export interface LimitUse {
  name: BudgetLimit;
  used: number;
  added: number;
  /** Without what was added; undefined if it is not set, or if it depends on the rule of a person. */
  limit: number | undefined;
}

/** What is added to a limit until the end of its day or month. */
export interface TopUp {
  limit: BudgetLimit;
  amount: number;
}

/** @returns undefined without a code, or for a group that is not `PLATFORM:ID` */
export function readBudgetOwner(kind: string, code: string): BudgetOwner | undefined {
  const of = BUDGET_OWNERS.find((one) => one === kind);
  const isCode = of === 'group' ? /^[a-z]+:\S+$/.test(code) : code.trim() !== '';
  return of !== undefined && isCode ? { of, code } : undefined;
}

/** @returns undefined unless the limit exists and the amount is a whole number of at least 1 */
export function readTopUp(limit: unknown, amount: unknown): TopUp | undefined {
  const name = BUDGET_LIMITS.find((one) => one === limit);
  return name !== undefined && isAmount(amount) ? { limit: name, amount: Number(amount) } : undefined;
}

export function isAmount(text: unknown): boolean {
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text);
}

export async function readLimits(store: BudgetStore, owner: BudgetOwner, shared: SharedBudgets): Promise<LimitUse[]> {
  const usage = await store.usage(owner);
  const limits = limitsOf(shared, owner);
  return BUDGET_LIMITS.map((name) => ({ name, ...usage[name], limit: limits[name] }));
}

/** Whether a top-up of this limit has an effect. Rules set the limits of a person, so every limit may be one of theirs. */
export function canTopUp(shared: SharedBudgets, owner: BudgetOwner, limit: BudgetLimit): boolean {
  return owner.of === 'person' || limitsOf(shared, owner)[limit] !== undefined;
}

/** Whether a person has a link, or has used a budget today or this month. Reads every link. */
export async function isKnownPerson(
  { redis, keyRing }: { redis: RedisClient; keyRing: KeyRing },
  store: BudgetStore,
  person: BudgetOwner,
): Promise<boolean> {
  if ((await readLimits(store, person, {})).some(({ used }) => used > 0)) return true;
  return (await peopleOfAccounts(redis, keyRing, new Set([person.code]))).length > 0;
}

export function isLimited(limits: readonly LimitUse[]): boolean {
  return limits.some(({ limit }) => limit !== undefined);
}

/** Rules set the limits of a person, so only the use is known here. */
function limitsOf({ departments, groups, models }: SharedBudgets, { of, code }: BudgetOwner): Budget {
  switch (of) {
    case 'person':
      return {};
    case 'department':
      return departments?.[code] ?? {};
    case 'group':
      return groups?.[code.slice(code.indexOf(':') + 1)] ?? groups?.['*'] ?? {};
    case 'model':
      return models?.[code] ?? {};
  }
}

/** Subject of the record, in which people are keyed hashes only. */
export function budgetSubject(keyRing: KeyRing, act: string, { of, code }: BudgetOwner, topUp?: TopUp): string {
  const whose = of === 'person' ? accountMark(keyRing, code) : code;
  return `${act} ${of}:${whose}${topUp === undefined ? '' : ` ${topUp.limit} +${topUp.amount}`}`;
}
