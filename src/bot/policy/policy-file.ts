import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { groupsSchema, isEverybody, listOf, subjectSchema, type Subject } from './subject.ts';

/** What they may: not use the bot at all, or use these models (the first answers) in these places. */
export type Permission =
  | { use: false }
  | {
      use: true;
      models: 'all' | readonly string[];
      private: boolean;
      /** The platform's ids of groups. */
      groups: 'all' | 'none' | readonly string[];
    };

/** One rule; its name stands in the log of refusals. */
export interface PolicyRule {
  name: string;
  who: Subject;
  may: Permission;
}

/** What `POLICY_FILE` says: the first rule that fits a person decides. */
export interface PolicyFile {
  rules: readonly PolicyRule[];
  /** For whom no rule fits. */
  otherwise: Permission;
}

/** Reads `POLICY_FILE`'s text. @param models the models that there are. @throws ConfigFileError with every fault */
export function parsePolicyFile(text: string, models: readonly string[]): PolicyFile {
  return readJsonFile(text, policySchema(models));
}

function policySchema(models: readonly string[]): z.ZodType<PolicyFile> {
  const may = maySchema(models);
  const rule = z.strictObject({ name: z.string().trim().min(1), who: subjectSchema, may });
  return z.strictObject({
    /** Words for who reads the file, since JSON has no comments. */
    about: z.union([z.string(), z.array(z.string())]).optional(),
    rules: z.array(rule).superRefine((rules, context) => {
      for (const [index, { name }] of rules.entries()) {
        const complain = (message: string) => context.addIssue({ code: 'custom', path: [index], message });
        const before = rules.slice(0, index);
        if (before.some((other) => other.name === name)) complain(`There is a rule ${JSON.stringify(name)} before it`);
        const catchAll = before.find((other) => isEverybody(other.who));
        if (catchAll) complain(`It never decides, since ${JSON.stringify(catchAll.name)} before it fits everybody`);
      }
    }),
    otherwise: may,
  });
}

function maySchema(models: readonly string[]): z.ZodType<Permission> {
  const model = z.string().refine((name) => models.includes(name), {
    error: ({ input }) => `${JSON.stringify(input)} is not among CHAT_MODELS (${models.join(', ')})`,
  });
  const allowed = z
    .strictObject({
      use: z.literal(true),
      models: z.union([z.literal('all'), listOf(model)], 'Must be "all" or a list of models'),
      private: z.boolean(),
      groups: groupsSchema,
    })
    .refine((given) => given.private || given.groups !== 'none', {
      message: 'This allows the use nowhere; if that is meant, write { "use": false }',
    });
  return z.discriminatedUnion('use', [z.strictObject({ use: z.literal(false) }), allowed], 'Must be true or false');
}
