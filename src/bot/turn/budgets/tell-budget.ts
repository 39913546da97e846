import { BUDGET_TEXTS } from '../../i18n/budget-texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import type { AppliedBudget, Budget } from '../../policy/budget.ts';
import type { BudgetLimit } from './budget-store.ts';
import type { LimitOf } from './spending.ts';

const LIMITS = ['questionsPerDay', 'tokensPerDay', 'tokensPerMonth'] as const;

/** Other members read the replies in a group, so there the text tells nothing about the person. */
export function tellUsedUp({ budget, limit, isInProgress }: LimitOf, voice: Voice, isPrivate: boolean): string {
  if (!isPrivate) return localizeForChat(BUDGET_TEXTS.usedUpInGroup, voice);
  if (isInProgress === true) return localizeForChat(BUDGET_TEXTS.inProgress, voice);
  const prefix = budget.of === 'person' ? 'usedUp' : 'departmentUsedUp';
  return localizeForChat(BUDGET_TEXTS[`${prefix}${capital(limit)}`], voice, { most: budget.limits[limit] ?? 0 });
}

/** Only the person's own budgets: nobody can save for a department. */
export function tellNear(near: readonly LimitOf[], voice: Voice): string[] {
  const own = near.filter(({ budget }) => budget.of === 'person');
  return own.map(({ budget, limit }) =>
    localizeForChat(BUDGET_TEXTS[`near${capital(limit)}`], voice, { most: budget.limits[limit] ?? 0 }),
  );
}

export function tellLeft({ limits }: AppliedBudget, left: Budget, voice: Voice): string[] {
  return LIMITS.flatMap((limit) => {
    const [most, rest] = [limits[limit], left[limit]];
    if (most === undefined || rest === undefined) return [];
    return localizeForChat(BUDGET_TEXTS[`left${capital(limit)}`], voice, { left: rest, most });
  });
}

function capital<Limit extends BudgetLimit>(limit: Limit): Capitalize<Limit> {
  return `${limit.slice(0, 1).toUpperCase()}${limit.slice(1)}` as Capitalize<Limit>;
}
