import { z } from 'zod';
import type { NowMs } from '../../shared/clock.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { PolicyPerson, PolicyPlace } from '../policy/subject.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { EgressPolicy } from '../../shared/web/egress-policy.ts';
import { parseJson } from '../../shared/parse-json.ts';

const MAX_CHARS = 20_000;
const MAX_FAULTS = 5;
/** Replaces the schema's own message, which would quote names written by the model. */
const UNKNOWN_NAMES = 'There are arguments that this tool does not have.';

/**
 * Validates the arguments of a call as untrusted JSON against the tool's schema (SECURITY.md strict-streams). Engines send
 * missing arguments as an empty text or null, and some send the object as a JSON string within JSON.
 * @returns the parsed arguments, or an error message for the model
 */
function readArguments<Schema extends z.ZodType>(
  argumentsJson: string,
  schema: Schema,
): { given: z.output<Schema> } | { fault: string } {
  if (argumentsJson.length > MAX_CHARS) return { fault: `The arguments have more than ${MAX_CHARS} characters.` };
  const json = argumentsJson.trim();
  let value = json === '' ? {} : parseJson(json);
  if (typeof value === 'string') value = parseJson(value);
  if (value === undefined) return { fault: 'The arguments are not valid JSON, or were cut off. Send them whole.' };
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { given: parsed.data };
  const faults = parsed.error.issues.slice(0, MAX_FAULTS).map((issue) => {
    const place = issue.path.map(String).join('.');
    const message = issue.code === 'unrecognized_keys' ? UNKNOWN_NAMES : issue.message;
    return place === '' ? message : `${place}: ${message}`;
  });
  return { fault: `The arguments do not fit. ${faults.join('; ')}` };
}

/** The signed-in account as tools see it. */
export interface ToolPerson extends PolicyPerson {
  accountId: string;
  name: string;
  departmentName: string;
}

/**
 * The person and the place that tools serve. No field comes from the model, so the model cannot widen the rights of a tool.
 */
export interface ToolAsker {
  /** Absent if the person is not signed in. */
  person: ToolPerson | undefined;
  place: PolicyPlace;
  language: Language;
  /** Names of the tools and knowledge sources that the scene is limited to. Absent: no limit. */
  tools?: readonly string[];
  knowledge?: readonly string[];
}

/** A search result that may be cited. */
export interface Citable {
  /** Unique within its source. */
  documentId: string;
  source: string;
  title: string;
  url?: string;
  /** Date of the content, `YYYY-MM-DD`. */
  date?: string;
}

/** A question that is being answered. */
export interface ToolCallContext extends ToolAsker {
  /** Whether a person wrote this address in the prompt or a tool found it in this turn. Other addresses are never opened. */
  isNamed(address: string): boolean;
  /** @returns the citation number; the same document has the same number throughout the turn */
  cite(found: Citable): number;
}

/** A call with valid arguments. */
export interface ToolUse {
  /** Status shown to the person while the tool runs; may contain text from the model. */
  status: string;
  /** @returns text for the model. @throws ToolError whose message is for the model, or the signal's reason */
  run(signal: AbortSignal): Promise<string>;
}

/**
 * A function that the model may call, one file per tool. Tools are read-only (SECURITY.md tool-rights), so a call may be
 * repeated.
 */
export interface Tool {
  name: string;
  description: string;
  /** A JSON schema of type `object`. */
  parameters: Readonly<Record<string, unknown>>;
  /**
   * Facts about the person are given in private chats only, whatever `TOOLS_FILE` says (SECURITY.md group-is-not-private).
   */
  isPrivateOnly: boolean;
  /** Other tools may open addresses in the results, and labels may link to them (SECURITY.md named-addresses). */
  findsAddresses: boolean;
  /** @param argumentsJson untrusted. @returns the call, or the fault in words for the model */
  prepare(argumentsJson: string, context: ToolCallContext): ToolUse | { fault: string };
}

interface ToolDefinition<Schema extends z.ZodObject> {
  name: string;
  description: string;
  schema: Schema;
  isPrivateOnly?: boolean;
  findsAddresses?: boolean;
  status(given: z.output<Schema>, context: ToolCallContext): string;
  run(given: z.output<Schema>, context: ToolCallContext, signal: AbortSignal): Promise<string>;
}

/** Dependencies passed to a tool on creation. */
export interface ToolParts<Setting extends keyof Config, Secret extends keyof Secrets> {
  /** Only the configuration settings that the tool declares; `secrets` likewise. */
  settings: Pick<Config, Setting>;
  secrets: Pick<Secrets, Secret>;
  nowMs: NowMs;
  /** Destinations allowed for tools that open addresses. */
  egress: EgressPolicy;
  /** The institution's documents; absent if there are none. */
  knowledge?: Knowledge;
  /** The tool's own fields from `TOOLS_FILE`; empty if none are set. */
  own: Readonly<Record<string, unknown>>;
}

/** An additional field that a tool allows in its rule in `TOOLS_FILE`. */
export interface ToolField {
  schema: z.ZodType;
  /** Error message when the field is set for another tool. */
  elsewhere: string;
}

/**
 * The definition that each tool file exports. `registry.ts` lists all tools; no other file names a tool
 * (docs/extending/ADD_A_TOOL.md).
 */
export interface ToolModule<Setting extends keyof Config = keyof Config, Secret extends keyof Secrets = keyof Secrets> {
  /** Name for the model and in `TOOLS_FILE`: lower-case letters, digits and `_`. */
  name: string;
  /** Additional fields in `TOOLS_FILE`, besides audience and places. */
  fields?: Readonly<Record<string, ToolField>>;
  /** If `TOOLS_FILE` does not name the tool: on for everyone everywhere when true, off otherwise. */
  isOnUnlessNamed?: boolean;
  /** Settings and secrets that the tool needs. */
  settings?: readonly Setting[];
  secrets?: readonly Secret[];
  /** @returns undefined if a required setting is missing */
  create(parts: ToolParts<Setting, Secret>): Tool | undefined;
}

/** Creates a tool from one schema, which both validates the arguments and is shown to the model. */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  const { name, description, schema, isPrivateOnly = false, findsAddresses = false, status, run } = definition;
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return {
    name,
    description,
    parameters,
    isPrivateOnly,
    findsAddresses,
    prepare(argumentsJson, context) {
      const read = readArguments(argumentsJson, schema);
      if ('fault' in read) return read;
      return { status: status(read.given, context), run: (signal) => run(read.given, context, signal) };
    },
  };
}
