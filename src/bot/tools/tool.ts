import { z } from 'zod';
import type { NowMs } from '../../shared/clock.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { PolicyPerson, PolicyPlace } from '../policy/subject.ts';
import type { Knowledge } from '../knowledge/knowledge.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { EgressPolicy } from '../../shared/web/egress-policy.ts';
import { readArguments } from './read-arguments.ts';

/** What tools know of the account that is signed in. */
export interface ToolPerson extends PolicyPerson {
  accountId: string;
  name: string;
  departmentName: string;
}

/** Whose question tools serve, and where. Nothing in it comes from the model, so the model cannot widen what a tool may do. */
export interface ToolAsker {
  /** Who asks; absent while nobody is signed in. */
  person: ToolPerson | undefined;
  place: PolicyPlace;
  language: Language;
  /** Names of tools and of sources of knowledge to which the scene is limited; absent: no limit of a scene's. */
  tools?: readonly string[];
  knowledge?: readonly string[];
}

/** Something that was found and may be cited. */
export interface Citable {
  /** Within its source. */
  documentId: string;
  source: string;
  title: string;
  url?: string;
  /** Of what it says, `YYYY-MM-DD`. */
  date?: string;
}

/** A question while it is being answered. */
export interface ToolCallContext extends ToolAsker {
  /** Whether people wrote this address in this prompt, or a tool found it in this turn: no other address is opened. */
  isNamed(address: string): boolean;
  /** @returns the number by which the answer may cite this; the same for the same document in the whole turn */
  cite(found: Citable): number;
}

/** A call whose arguments fit. */
export interface ToolUse {
  /** What the person reads while it runs; may hold words of the model. */
  status: string;
  /** @returns text for the model. @throws ToolError whose message is for the model, or the signal's reason */
  run(signal: AbortSignal): Promise<string>;
}

/** A function that the model may call: one file each. Tools only read (SECURITY.md tool-rights), so a call may be repeated. */
export interface Tool {
  name: string;
  description: string;
  /** A JSON schema of type `object`. */
  parameters: Readonly<Record<string, unknown>>;
  /** Facts about the person are told in the private chat only, whatever the tools' file says (SECURITY.md group-is-not-private). */
  isPrivateOnly: boolean;
  /** Addresses in its results may be opened by another tool, and labels may lead to them (SECURITY.md named-addresses). */
  findsAddresses: boolean;
  /** @param argumentsJson untrusted. @returns the use, or what does not fit, in words for the model */
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

/** What a tool is made from. */
export interface ToolParts<Setting extends keyof Config, Secret extends keyof Secrets> {
  /** Of the configuration what the tool names, nothing else; the secrets likewise. */
  settings: Pick<Config, Setting>;
  secrets: Pick<Secrets, Secret>;
  nowMs: NowMs;
  /** What may be reached by tools that open addresses. */
  egress: EgressPolicy;
  /** The institution's documents; absent where there are none. */
  knowledge?: Knowledge;
  /** What `TOOLS_FILE` says of this tool in its own fields; empty where it says nothing. */
  own: Readonly<Record<string, unknown>>;
}

/** A field that a tool adds to its own rule in `TOOLS_FILE`. */
export interface ToolField {
  schema: z.ZodType;
  /** What is said where it stands with another tool. */
  elsewhere: string;
}

/** What a tool's file tells of it; `registry.ts` lists them all, and nothing else names a tool (docs/ADD_A_TOOL.md). */
export interface ToolModule<Setting extends keyof Config = keyof Config, Secret extends keyof Secrets = keyof Secrets> {
  /** By this the model calls it and `TOOLS_FILE` switches it: small letters, digits and `_`. */
  name: string;
  /** Fields of its own in `TOOLS_FILE`, beside who and where. */
  fields?: Readonly<Record<string, ToolField>>;
  /** It is on for everybody and everywhere where `TOOLS_FILE` does not name it; any other tool is off then. */
  isOnUnlessNamed?: boolean;
  /** What it needs of the configuration and the secrets. */
  settings?: readonly Setting[];
  secrets?: readonly Secret[];
  /** @returns undefined where the settings lack what it needs */
  create(parts: ToolParts<Setting, Secret>): Tool | undefined;
}

/** Makes a tool whose arguments are checked by one schema, the same that the model is shown. */
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
