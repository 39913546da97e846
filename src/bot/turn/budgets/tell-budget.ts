import { BUDGET_TEXTS } from '../../i18n/budget-texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { BUDGET_LIMITS, type AppliedBudget, type Budget, type BudgetLimit } from '../../policy/budget.ts';
import type { LimitOf } from './spending.ts';

const AMOUNTS = {
  questions: BUDGET_TEXTS.amountQuestions,
  tokens: BUDGET_TEXTS.amountTokens,
  images: BUDGET_TEXTS.amountImages,
} as const;

type Period = 'Day' | 'Month';

const USED_UP = {
  person: { Day: BUDGET_TEXTS.personUsedUpPerDay, Month: BUDGET_TEXTS.personUsedUpPerMonth },
  department: { Day: BUDGET_TEXTS.departmentUsedUpPerDay, Month: BUDGET_TEXTS.departmentUsedUpPerMonth },
  group: { Day: BUDGET_TEXTS.groupUsedUpPerDay, Month: BUDGET_TEXTS.groupUsedUpPerMonth },
  model: { Day: BUDGET_TEXTS.modelUsedUpPerDay, Month: BUDGET_TEXTS.modelUsedUpPerMonth },
} as const;
const NEAR = { Day: BUDGET_TEXTS.nearPerDay, Month: BUDGET_TEXTS.nearPerMonth } as const;
const LEFT = {
  person: { Day: BUDGET_TEXTS.personLeftPerDay, Month: BUDGET_TEXTS.personLeftPerMonth },
  department: { Day: BUDGET_TEXTS.departmentLeftPerDay, Month: BUDGET_TEXTS.departmentLeftPerMonth },
  model: { Day: BUDGET_TEXTS.modelLeftPerDay, Month: BUDGET_TEXTS.modelLeftPerMonth },
} as const;

/** Other members read the replies in a group, so there the text tells nothing about the person. */
export function tellUsedUp({ budget, limit, isInProgress }: LimitOf, voice: Voice, isPrivate: boolean): string {
  const { of, code, limits } = budget;
  if (!isPrivate && of !== 'group') return localizeForChat(BUDGET_TEXTS.usedUpInGroup, voice);
  if (isInProgress === true) return localizeForChat(BUDGET_TEXTS.inProgress, voice);
  const { amount, period } = amountOf(limit, limits[limit], voice);
  return localizeForChat(USED_UP[of][period], voice, { amount, code });
}

/** Only the person's own budgets: one person cannot save for a department. */
export function tellNear(near: readonly LimitOf[], voice: Voice): string[] {
  return near
    .filter(({ budget }) => budget.of === 'person')
    .map(({ budget, limit }) => {
      const { amount, period } = amountOf(limit, budget.limits[limit], voice);
      return localizeForChat(NEAR[period], voice, { amount });
    });
}

/** What is left of each limit of a budget that is not a group's. @param most the limits with what was added to them */
export function tellLeft(
  { of, code }: AppliedBudget,
  { left, total }: { left: Budget; total: Budget },
  voice: Voice,
): string[] {
  return BUDGET_LIMITS.flatMap((limit) => {
    if (of === 'group' || left[limit] === undefined) return [];
    const { amount, period } = amountOf(limit, total[limit], voice);
    return localizeForChat(LEFT[of][period], voice, { amount, code, left: left[limit] });
  });
}

function amountOf(limit: BudgetLimit, total = 0, voice: Voice): { amount: string; period: Period } {
  const [kind, period] = limit.split('Per') as [keyof typeof AMOUNTS, Period];
  return { amount: localizeForChat(AMOUNTS[kind], voice, { most: total }), period };
}
