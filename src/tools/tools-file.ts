import { z } from 'zod';
import { isHostOrRange } from './page/never-reach.ts';
import { readRules } from '../policy/read-rules.ts';
import { groupsSchema, subjectSchema, type Where, type Subject } from '../policy/subject.ts';

/** Whether a tool is on, for whom and where. */
export interface ToolRule extends Where {
  on: boolean;
  who: Subject;
  /** Of `read_page`: hosts, with all below them, and ranges of IP addresses that it may never reach. */
  never?: readonly string[] | undefined;
}

/** What `TOOLS_FILE` says; a tool that it does not name is off. */
export type ToolRules = Readonly<Record<string, ToolRule>>;

const ruleSchema = z
  .strictObject({
    on: z.boolean(),
    who: subjectSchema.default({}),
    private: z.boolean().default(true),
    groups: groupsSchema.default('all'),
    never: z
      .array(
        z.string().refine(isHostOrRange, {
          message: 'Expected a host such as intranet.example.edu, or a range such as 192.0.2.0/24',
        }),
      )
      .optional(),
  })
  .refine((rule) => !rule.on || rule.private || rule.groups !== 'none', {
    message: 'This is on nowhere; if that is meant, write { "on": false }',
  });

/**
 * Reads `TOOLS_FILE`'s text. @param known the names of the tools that there are
 * @throws PolicyFileError with every fault
 */
export function parseToolsFile(text: string, known: readonly string[]): ToolRules {
  const schema = z.strictObject({
    /** Words for who reads the file, since JSON has no comments. */
    about: z.union([z.string(), z.array(z.string())]).optional(),
    tools: z.record(z.string(), ruleSchema).superRefine((rules, context) => {
      for (const [name, { never }] of Object.entries(rules))
        if (name !== 'read_page' && never !== undefined)
          context.addIssue({ code: 'custom', path: [name, 'never'], message: 'Only read_page reaches pages' });
      for (const name of Object.keys(rules).filter((given) => !known.includes(given)))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `There is no such tool; there are ${known.join(', ')}`,
        });
    }),
  });
  return readRules(text, schema).tools;
}
