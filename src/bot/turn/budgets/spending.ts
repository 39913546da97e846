import { personIdOf } from '../../domain/conversation.ts';
import type { AppliedBudget } from '../../policy/budget.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';
import type { BudgetLimit, BudgetStore, BudgetUse } from './budget-store.ts';

/** A limit of a budget. */
export interface LimitOf {
  budget: AppliedBudget;
  limit: BudgetLimit;
  /** What is left is reserved by other questions, which may give some of it back. */
  isInProgress?: boolean;
}

/** The question is not asked, because a budget is used up. */
export class BudgetUsedUpError extends Error {
  readonly usedUp: LimitOf;

  constructor(usedUp: LimitOf) {
    super('A budget is used up');
    this.usedUp = usedUp;
  }
}

/** Tokens reserved for an answer. A longer one exceeds a budget by what it is longer. */
const ANSWER_TOKENS = 4_096;

/** What one question takes from its budgets: reserved before the model is called, charged after it (SECURITY.md budgets). */
export class Spending {
  readonly #store: BudgetStore;
  readonly #context: AdmittedContext;
  #reserved: readonly AppliedBudget[] = [];

  constructor(store: BudgetStore, context: AdmittedContext) {
    this.#store = store;
    this.#context = context;
  }

  /**
   * Reserves the expected use in all budgets or in none.
   * @returns limits of which the person has now used four fifths, to be told once
   * @throws BudgetUsedUpError
   */
  async reserve(promptTokens: number): Promise<LimitOf[]> {
    const { budgets, turn } = this.#context;
    const use = { questions: turn.messages.length, tokens: promptTokens + ANSWER_TOKENS };
    const near: LimitOf[] = [];
    for (const budget of budgets) {
      const { usedUp, isInProgress, warning } = await this.#store.reserve(budget, this.#place(use));
      if (usedUp !== undefined) {
        await this.charge({ questions: 0, tokens: 0 });
        throw new BudgetUsedUpError({ budget, limit: usedUp, isInProgress });
      }
      this.#reserved = [...this.#reserved, budget];
      if (warning !== undefined) near.push({ budget, limit: warning });
    }
    return near;
  }

  /** Replaces what was reserved by the real use. */
  async charge(use: BudgetUse): Promise<void> {
    await Promise.all(this.#reserved.map((budget) => this.#store.charge(budget, this.#place(use))));
    this.#reserved = [];
  }

  #place(use: BudgetUse) {
    return { subject: subjectOf(this.#context), turnId: this.#context.turn.turnId, use };
  }
}

/** A person has one budget on all platforms: that of the account, if there is one. */
export function subjectOf({ account, newest }: Pick<TurnContext, 'account' | 'newest'>): string {
  return account?.accountId ?? personIdOf(newest, newest.sender.userId);
}
