import type { BudgetCharge } from '../../domain/turn.ts';
import type { AppliedBudget, BudgetLimit } from '../../policy/budget.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';
import type { BudgetOwner, BudgetPlace, BudgetStore, BudgetUse } from './budget-store.ts';

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

/** Tokens reserved for an answer. A longer answer exceeds the budget by the difference. */
const ANSWER_TOKENS = 4_096;
const NOTHING: BudgetUse = { questions: 0, tokens: 0, images: 0 };

/** What one question takes from its budgets: reserved before the model is called, settled by the commit (SECURITY.md budgets). */
export class Spending {
  readonly #store: BudgetStore;
  readonly #context: AdmittedContext;
  #places: readonly BudgetPlace[] = [];

  constructor(store: BudgetStore, context: AdmittedContext) {
    this.#store = store;
    this.#context = context;
  }

  /**
   * Reserves the expected use in all budgets of the question and its model, or in none.
   * @returns limits of which four fifths are used now, to be told once
   * @throws BudgetUsedUpError
   */
  async reserve(model: string, promptTokens: number): Promise<LimitOf[]> {
    const { turn, question } = this.#context;
    const budgets = this.#context.budgets.filter(({ of, code }) => of !== 'model' || code === model);
    // Places are those of the first attempt, also if the day ends meanwhile. On a cluster, an earlier budget may be reserved
    // when a later one is used up.
    this.#places = budgets.map((budget) =>
      this.#store.placeOf(ownerOf(budget, this.#context), budget.limits, turn.turnId),
    );
    const expected = {
      questions: turn.messages.length,
      tokens: promptTokens + ANSWER_TOKENS,
      images: question.images.length,
    };
    const reserved = await this.#store.reserve(this.#places, turn.turnId, expected);
    const limitOf = ({ at, limit }: { at: number; limit: BudgetLimit }): LimitOf => ({
      budget: budgets[at] as AppliedBudget,
      limit,
    });
    if (reserved.kind === 'reserved') return reserved.near.map(limitOf);
    throw new BudgetUsedUpError({ ...limitOf(reserved.usedUp), isInProgress: reserved.isInProgress });
  }

  /** What the commit charges. An answer without text costs nothing. */
  charges(tokens: number | undefined): BudgetCharge[] | undefined {
    if (this.#places.length === 0) return undefined;
    const { turn, question } = this.#context;
    const use =
      tokens === undefined ? NOTHING : { questions: turn.messages.length, tokens, images: question.images.length };
    return this.#places.map((place) => this.#store.chargeOf(place, use));
  }
}

type Asking = Pick<TurnContext, 'account' | 'newest'>;

/**
 * A person has one budget on all platforms: that of the account, if there is one. Ids of groups are unique on their platform
 * only.
 */
export function ownerOf({ of, code }: BudgetOwner, { account, newest }: Asking): BudgetOwner {
  const { platform, tenant, sender } = newest;
  if (of === 'person') return { of, code: account?.accountId ?? `${platform}:${tenant}:${sender.userId}` };
  return { of, code: of === 'group' ? `${platform}:${code}` : code };
}
