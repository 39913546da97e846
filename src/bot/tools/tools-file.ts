import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { groupsSchema, subjectSchema, type EnabledPlaces, type Subject } from '../policy/subject.ts';
import type { ToolModule } from './tool.ts';

/** Whether a tool is on, its audience and its places, plus the tool's own fields. */
export interface ToolRule extends EnabledPlaces {
  on: boolean;
  who: Subject;
  readonly [own: string]: unknown;
}

/** Contents of `TOOLS_FILE`. A tool that it does not name is off, except tools with `isOnUnlessNamed`. */
export type ToolRules = Readonly<Record<string, ToolRule>>;

const COMMON = {
  on: z.boolean(),
  who: subjectSchema.default({}),
  private: z.boolean().default(true),
  groups: groupsSchema.default('all'),
};

type ToolHere = Pick<ToolModule, 'name' | 'fields' | 'isOnUnlessNamed'>;

/** Parses the text of `TOOLS_FILE`. @param tools the available tools @throws ConfigFileError listing every fault */
export function parseToolsFile(text: string, tools: readonly ToolHere[]): ToolRules {
  const fields = tools.flatMap(({ name: tool, fields: own = {} }) =>
    Object.entries(own).map(([name, field]) => ({ tool, name, ...field })),
  );
  const ownFields = Object.fromEntries(fields.map(({ name, schema }) => [name, schema.optional()]));
  const ruleSchema = z
    .strictObject({ ...ownFields, ...COMMON })
    .refine((rule) => !rule.on || rule.private || rule.groups !== 'none', {
      message: 'This does not enable the tool anywhere; if that is intended, write { "on": false }',
    });
  const known = tools.map(({ name }) => name);
  const schema = z.strictObject({
    /** Free text for readers of the file, since JSON has no comments. */
    about: z.union([z.string(), z.array(z.string())]).optional(),
    tools: z.record(z.string(), ruleSchema).superRefine((rules, context) => {
      for (const [name, rule] of Object.entries(rules))
        for (const field of fields)
          if (field.tool !== name && (rule as ToolRule)[field.name] !== undefined)
            context.addIssue({ code: 'custom', path: [name, field.name], message: field.elsewhere });
      for (const name of Object.keys(rules).filter((given) => !known.includes(given)))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `There is no such tool; available are ${known.join(', ')}`,
        });
    }),
  });
  return { ...unlessNamed(tools), ...readJsonFile(text, schema).tools };
}

function unlessNamed(tools: readonly ToolHere[]): ToolRules {
  const rule: ToolRule = { on: true, who: {}, private: true, groups: 'all' };
  return Object.fromEntries(tools.flatMap(({ name, isOnUnlessNamed }) => (isOnUnlessNamed ? [[name, rule]] : [])));
}
