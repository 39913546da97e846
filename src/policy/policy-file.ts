import { z } from 'zod';
import { CodedError } from '../base/coded-error.ts';

/** A policy file that cannot be used; `faults` says each thing to mend, with its place such as `rules[0].who`. */
export class PolicyFileError extends CodedError<'policy_not_json' | 'policy_invalid'> {
  readonly faults: readonly string[];

  constructor(code: 'policy_not_json' | 'policy_invalid', faults: string[]) {
    super(code, faults.join('; '));
    this.faults = faults;
  }
}

/** Which people a rule is about: all that is named must hold; of a list, one. Nothing named is everybody. */
export interface Who {
  /** Whether an account is linked. */
  signedIn?: boolean | undefined;
  /** The profile's identity codes (spec 2.6, `parentIdentityInfo.code`). */
  identity?: readonly string[] | undefined;
  /** Department codes (spec 2.6, `attributes.BMBM`); with `*` at its end the beginning of one. */
  departments?: readonly string[] | undefined;
}

/** What they may: not use the bot at all, or use these models (the first answers) in these places. */
export type May =
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
  who: Who;
  may: May;
}

/** What `POLICY_FILE` says: the first rule that fits a person decides. */
export interface PolicyFile {
  rules: readonly PolicyRule[];
  /** For whom no rule fits. */
  otherwise: May;
}

/** The identity types that there are (spec 2.6). A slip of one would otherwise be a rule that fits nobody. */
const IDENTITY_CODES = ['JG', 'XS', 'QT'] as const;

const department = z
  .string()
  .regex(/^[^\s*]+\*?$/, 'Must be a department code, or the beginning of one and * at its end');

const who = z
  .strictObject({
    signedIn: z.boolean().optional(),
    identity: listOf(z.enum(IDENTITY_CODES, `Must be one of ${IDENTITY_CODES.join(', ')}`)).optional(),
    departments: listOf(department).optional(),
  })
  .refine(({ signedIn, identity, departments }) => signedIn !== false || !(identity ?? departments), {
    message: 'Who is not signed in has neither an identity nor a department',
  });

/** Reads `POLICY_FILE`'s text. @param models the models that there are. @throws PolicyFileError with every fault */
export function parsePolicyFile(text: string, models: readonly string[]): PolicyFile {
  const parsed = policySchema(models).safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`);
  throw new PolicyFileError('policy_invalid', faults);
}

function policySchema(models: readonly string[]): z.ZodType<PolicyFile> {
  const may = maySchema(models);
  const rule = z.strictObject({ name: z.string().trim().min(1), who, may });
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

function maySchema(models: readonly string[]): z.ZodType<May> {
  const model = z.string().refine((name) => models.includes(name), {
    error: ({ input }) => `${JSON.stringify(input)} is not among CHAT_MODELS (${models.join(', ')})`,
  });
  const allowed = z
    .strictObject({
      use: z.literal(true),
      models: z.union([z.literal('all'), listOf(model)], 'Must be "all" or a list of models'),
      private: z.boolean(),
      groups: z.union(
        [z.literal(['all', 'none']), listOf(z.string().min(1))],
        'Must be "all", "none" or a list of group ids',
      ),
    })
    .refine((given) => given.private || given.groups !== 'none', {
      message: 'This allows the use nowhere; if that is meant, write { "use": false }',
    });
  return z.discriminatedUnion('use', [z.strictObject({ use: z.literal(false) }), allowed], 'Must be true or false');
}

function listOf<Part extends z.ZodType>(part: Part): z.ZodArray<Part> {
  return z.array(part).min(1, 'Is empty: name at least one');
}

/** Whether a rule names no condition. */
function isEverybody({ signedIn, identity, departments }: Who): boolean {
  return signedIn === undefined && identity === undefined && departments === undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PolicyFileError('policy_not_json', ['The file is not valid JSON']);
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return steps.join('').replace(/^\./, '') || 'the file';
}
