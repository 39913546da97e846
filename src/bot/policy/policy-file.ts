import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { budgetSchema, type Budget, type SharedBudgets } from './budget.ts';
import { departmentSchema, groupsSchema, isEverybody, listOf, subjectSchema, type Subject } from './subject.ts';

/** Either no access to the bot, or access to these models in these places. The first model is the default. */
export type Permission =
  | { use: false }
  | {
      use: true;
      models: 'all' | readonly string[];
      private: boolean;
      /** Platform group ids. */
      groups: 'all' | 'none' | readonly string[];
      /** For each person of the rule. */
      budget?: Budget;
    };

/** One rule. Its name appears in the log of refusals. */
export interface PolicyRule {
  name: string;
  who: Subject;
  may: Permission;
}

/** Contents of `POLICY_FILE`. The first rule that matches a person decides. */
export interface PolicyFile extends SharedBudgets {
  rules: readonly PolicyRule[];
  /** Applies when no rule matches. */
  otherwise: Permission;
}

/**
 * Parses the text of `POLICY_FILE`.
 * @param models the available models; undefined while they are unknown, when any name is accepted
 * @throws ConfigFileError listing every fault
 */
export function parsePolicyFile(text: string, models: readonly string[] | undefined): PolicyFile {
  return readJsonFile(text, policySchema(models));
}

function policySchema(models: readonly string[] | undefined): z.ZodType<PolicyFile> {
  const model = modelSchema(models);
  const may = maySchema(model);
  const rule = z.strictObject({ name: z.string().trim().min(1), who: subjectSchema, may });
  return z.strictObject({
    /** Free text for readers of the file, since JSON has no comments. */
    about: z.union([z.string(), z.array(z.string())]).optional(),
    rules: z.array(rule).superRefine((rules, context) => {
      for (const [index, { name }] of rules.entries()) {
        const complain = (message: string) => context.addIssue({ code: 'custom', path: [index], message });
        const before = rules.slice(0, index);
        if (before.some((other) => other.name === name))
          complain(`An earlier rule has the name ${JSON.stringify(name)}`);
        const catchAll = before.find((other) => isEverybody(other.who));
        if (catchAll) complain(`It never applies, because ${JSON.stringify(catchAll.name)} before it matches everyone`);
      }
    }),
    otherwise: may,
    departments: z.record(departmentSchema, budgetSchema).optional(),
    groups: z.record(z.string().min(1), budgetSchema).optional(),
    models: z.record(model, budgetSchema).optional(),
  });
}

function modelSchema(models: readonly string[] | undefined) {
  return z.string().refine((name) => models?.includes(name) ?? true, {
    error: ({ input }) => `${JSON.stringify(input)} is not in CHAT_MODELS (${models?.join(', ') ?? ''})`,
  });
}

function maySchema(model: ReturnType<typeof modelSchema>): z.ZodType<Permission> {
  const allowed = z
    .strictObject({
      use: z.literal(true),
      models: z.union([z.literal('all'), listOf(model)], 'Must be "all" or a list of models'),
      private: z.boolean(),
      groups: groupsSchema,
      budget: budgetSchema.optional(),
    })
    .refine((given) => given.private || given.groups !== 'none', {
      message: 'This does not allow the use anywhere; if that is intended, write { "use": false }',
    });
  return z.discriminatedUnion('use', [z.strictObject({ use: z.literal(false) }), allowed], 'Must be true or false');
}
