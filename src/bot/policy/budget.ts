import { z } from 'zod';
import { isWithinDepartment, type PolicyPerson, type PolicyPlace } from './subject.ts';

/** Names of all limits: what is counted, and for how long. Days and months are those of `TIME_ZONE`. */
export const BUDGET_LIMITS = [
  ...(['questionsPerDay', 'questionsPerMonth', 'tokensPerDay', 'tokensPerMonth'] as const),
  ...(['imagesPerDay', 'imagesPerMonth'] as const),
] as const;

export type BudgetLimit = (typeof BUDGET_LIMITS)[number];

/** Limits of use; an absent one does not apply. Tokens are those of prompts and answers together. */
export type Budget = Partial<Record<BudgetLimit, number>>;

/** A budget that applies to a question. */
export interface AppliedBudget {
  /** Who shares it: one person, the people of a department code, the members of a group, or all users of a model. */
  of: 'person' | 'department' | 'group' | 'model';
  /** The department code, group id or model; empty for a person. */
  code: string;
  limits: Budget;
}

/** Budgets that several people share, beside the rules of the policy file. */
export interface SharedBudgets {
  /** By department code; a trailing `*` makes a code a prefix. */
  departments?: Readonly<Record<string, Budget>>;
  /** By platform group id; `*` is the separate budget of each group that is not listed. */
  groups?: Readonly<Record<string, Budget>>;
  /** By model name, for all people together. */
  models?: Readonly<Record<string, Budget>>;
}

const limit = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

export const budgetSchema: z.ZodType<Budget> = z
  .strictObject(Object.fromEntries(BUDGET_LIMITS.map((name) => [name, limit.optional()])))
  .refine((budget) => Object.keys(budget).length > 0, 'Must name at least one limit');

const OTHER_GROUPS = '*';

/** The budgets of a question: of its person, department and group, and those of all models, of which one will answer. */
export function budgetsOf(
  own: Budget | undefined,
  { departments = {}, groups = {}, models = {} }: SharedBudgets,
  { person, place }: { person: PolicyPerson | undefined; place: PolicyPlace },
): readonly AppliedBudget[] {
  const found: AppliedBudget[] = own ? [{ of: 'person', code: '', limits: own }] : [];
  for (const [code, limits] of Object.entries(departments))
    if (person !== undefined && isWithinDepartment(person.department, code))
      found.push({ of: 'department', code, limits });
  const ofGroup = place.kind === 'group' ? (groups[place.id] ?? groups[OTHER_GROUPS]) : undefined;
  if (ofGroup) found.push({ of: 'group', code: place.id, limits: ofGroup });
  for (const [code, limits] of Object.entries(models)) found.push({ of: 'model', code, limits });
  return found;
}
