import { z } from 'zod';
import { isWithinDepartment, type PolicyPerson } from './subject.ts';

/** Limits of use; an absent one does not apply. Days and months are those of `TIME_ZONE`. */
export interface Budget {
  questionsPerDay?: number;
  /** Prompt and answer tokens together. */
  tokensPerDay?: number;
  tokensPerMonth?: number;
}

/** A budget that applies to a question. */
export type AppliedBudget =
  | { of: 'person'; limits: Budget }
  /** Shared by everybody in the departments of this code. */
  | { of: 'department'; code: string; limits: Budget };

const limit = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

export const budgetSchema: z.ZodType<Budget> = z
  .strictObject({
    questionsPerDay: limit.optional(),
    tokensPerDay: limit.optional(),
    tokensPerMonth: limit.optional(),
  })
  .refine((budget) => Object.keys(budget).length > 0, 'Must name at least one limit');

/** The budgets of this person: that of their rule, and those of all codes that match their department. */
export function budgetsOf(
  own: Budget | undefined,
  departments: Readonly<Record<string, Budget>>,
  person: PolicyPerson | undefined,
): readonly AppliedBudget[] {
  const shared = Object.entries(departments).filter(
    ([code]) => person !== undefined && isWithinDepartment(person.department, code),
  );
  return [
    ...(own ? [{ of: 'person' as const, limits: own }] : []),
    ...shared.map(([code, limits]) => ({ of: 'department' as const, code, limits })),
  ];
}
