import type { Bilingual } from '../../../shared/text/texts.ts';
import { BUDGET_TEXTS } from '../../i18n/budget-texts.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import type { AppliedBudget, Budget } from '../../policy/budget.ts';
import type { BudgetLimit } from './budget-store.ts';
import type { LimitOf } from './spending.ts';

type OfLimit = Readonly<Record<BudgetLimit, Bilingual>>;

const USED_UP: Readonly<Record<AppliedBudget['of'], OfLimit>> = {
  person: {
    questionsPerDay: BUDGET_TEXTS.usedUpQuestionsPerDay,
    tokensPerDay: BUDGET_TEXTS.usedUpTokensPerDay,
    tokensPerMonth: BUDGET_TEXTS.usedUpTokensPerMonth,
  },
  department: {
    questionsPerDay: BUDGET_TEXTS.departmentUsedUpQuestionsPerDay,
    tokensPerDay: BUDGET_TEXTS.departmentUsedUpTokensPerDay,
    tokensPerMonth: BUDGET_TEXTS.departmentUsedUpTokensPerMonth,
  },
};
const NEAR: OfLimit = {
  questionsPerDay: BUDGET_TEXTS.nearQuestionsPerDay,
  tokensPerDay: BUDGET_TEXTS.nearTokensPerDay,
  tokensPerMonth: BUDGET_TEXTS.nearTokensPerMonth,
};
const LEFT: OfLimit = {
  questionsPerDay: BUDGET_TEXTS.leftQuestionsPerDay,
  tokensPerDay: BUDGET_TEXTS.leftTokensPerDay,
  tokensPerMonth: BUDGET_TEXTS.leftTokensPerMonth,
};

/** Other members read the replies in a group, so there the text tells nothing about the person. */
export function tellUsedUp({ budget, limit, isInProgress }: LimitOf, voice: Voice, isPrivate: boolean): string {
  if (!isPrivate) return localizeForChat(BUDGET_TEXTS.usedUpInGroup, voice);
  if (isInProgress === true) return localizeForChat(BUDGET_TEXTS.inProgress, voice);
  return localizeForChat(USED_UP[budget.of][limit], voice, { most: budget.limits[limit] ?? 0 });
}

/** Only the person's own budgets: nobody can save for a department. */
export function tellNear(near: readonly LimitOf[], voice: Voice): string[] {
  const own = near.filter(({ budget }) => budget.of === 'person');
  return own.map(({ budget, limit }) => localizeForChat(NEAR[limit], voice, { most: budget.limits[limit] ?? 0 }));
}

export function tellLeft({ limits }: AppliedBudget, left: Budget, voice: Voice): string[] {
  return Object.keys(LEFT).flatMap((name) => {
    const limit = name as BudgetLimit;
    const [most, rest] = [limits[limit], left[limit]];
    return most === undefined || rest === undefined ? [] : localizeForChat(LEFT[limit], voice, { left: rest, most });
  });
}
