import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { formatZodIssue } from '../../shared/text/format-zod-error.ts';
import type { Language } from '../../shared/text/texts.ts';
import { groupsSchema, isEverybody, listOf, subjectSchema, type Subject } from './subject.ts';

/** A suggested question, offered to people in the scene. */
export interface ScenePrompt {
  title: string;
  message: string;
}

/** One scene: its audience, its places and its settings. A scene never allows more than policy and tools allow. */
export interface Scene {
  name: string;
  who: Subject;
  /** Platform group ids. Absent: private chats and all groups. `none`: private chats only. */
  groups?: 'all' | 'none' | readonly string[];
  platforms?: readonly string[];
  /** Appended to the system prompt. */
  instructions?: string;
  /** Restricts the models that the policy allows to these. */
  models?: readonly string[];
  /** Restricts the enabled tools to these; empty for none. */
  tools?: readonly string[];
  /** Restricts the knowledge sources to these names; empty for none. */
  knowledge?: readonly string[];
  /** Default reasoning effort for people who have not set one with `/think`. */
  thinking?: 'off' | 'low' | 'high' | 'max';
  /** Language of the answers. */
  language?: Language;
  style?: 'brief' | 'detailed';
  welcome?: Readonly<Partial<Record<Language, string>>>;
  prompts?: Readonly<Partial<Record<Language, readonly ScenePrompt[]>>>;
}

/** Names that a scenes file may refer to. */
export interface KnownNames {
  /** Undefined while the models are unknown: any name is accepted. */
  models: readonly string[] | undefined;
  tools: readonly string[];
  platforms: readonly string[];
}

const MAX_INSTRUCTION_CHARS = 20_000;
const MAX_WELCOME_CHARS = 1_000;
const MAX_PROMPTS = 4;
const MAX_TITLE_CHARS = 75;
const MAX_MESSAGE_CHARS = 1_000;

/** Parses the text of `SCENES_FILE`. @throws ConfigFileError listing every fault */
export function parseScenesFile(text: string, known: KnownNames): readonly Scene[] {
  return readJsonFile(text, scenesSchema(known));
}

function scenesSchema(known: KnownNames): z.ZodType<readonly Scene[]> {
  const scenes = z.array(sceneSchema(known)).superRefine((given, context) => {
    for (const [index, { name }] of given.entries()) {
      const complain = (message: string) => context.addIssue({ code: 'custom', path: [index], message });
      const before = given.slice(0, index);
      if (before.some((other) => other.name === name))
        complain(`An earlier scene has the name ${JSON.stringify(name)}`);
      const catchAll = before.find(isEverywhere);
      if (catchAll)
        complain(`It never applies, because ${JSON.stringify(catchAll.name)} before it matches everyone everywhere`);
    }
  });
  // JSON has no comments: free text for readers of the file goes next to the list.
  const withWords = z
    .strictObject({ about: z.union([z.string(), z.array(z.string())]).optional(), scenes })
    .transform((given) => given.scenes);
  // The shape of the value selects one schema, so that faults refer to that schema only.
  return z.unknown().transform((given, context) => {
    const read = (Array.isArray(given) ? scenes : withWords).safeParse(given, { error: formatZodIssue });
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  });
}

function sceneSchema({ models, tools, platforms }: KnownNames): z.ZodType<Scene> {
  const ofKnown = (names: readonly string[] | undefined, what: string) =>
    z.string().refine((name) => names?.includes(name) ?? true, {
      error: ({ input }) => `${JSON.stringify(input)} is not a ${what}; available are ${names?.join(', ') ?? ''}`,
    });
  const words = (most: number) => z.string().trim().min(1).max(most);
  const lines = z.union(
    [words(MAX_INSTRUCTION_CHARS), listOf(z.string()).transform((given) => given.join('\n').trim())],
    'Must be a string or a list of lines',
  );
  return z.strictObject({
    name: z.string().trim().min(1).max(100),
    who: subjectSchema.default({}),
    groups: groupsSchema.optional(),
    platforms: listOf(ofKnown(platforms, 'platform')).optional(),
    instructions: lines.pipe(z.string().min(1).max(MAX_INSTRUCTION_CHARS)).optional(),
    models: listOf(ofKnown(models, 'model of CHAT_MODELS')).optional(),
    tools: z.array(ofKnown(tools, 'tool')).optional(),
    knowledge: z.array(z.string().trim().min(1)).optional(),
    thinking: z.enum(['off', 'low', 'high', 'max'], 'Must be off, low, high or max').optional(),
    language: z.enum(['en', 'zh'], 'Must be en or zh').optional(),
    style: z.enum(['brief', 'detailed'], 'Must be brief or detailed').optional(),
    welcome: byLanguage(words(MAX_WELCOME_CHARS), 'Must be a string, or { "zh": …, "en": … }').optional(),
    prompts: byLanguage(promptsSchema, 'Must be a list of questions, or { "zh": […], "en": […] }').optional(),
  });
}

/** One value for both languages, or one per language. */
function byLanguage<Value>(value: z.ZodType<Value>, complaint: string) {
  const both = value.transform((given) => ({ zh: given, en: given }));
  return z.union([both, z.strictObject({ zh: value.optional(), en: value.optional() })], complaint);
}

/** The title defaults to the message. */
const promptSchema = z
  .union([
    z.string().transform((message) => ({ title: message, message })),
    z.strictObject({ title: z.string(), message: z.string() }),
  ])
  .transform(({ title, message }) => ({
    title: title.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS),
    message: message.trim(),
  }))
  .pipe(z.object({ title: z.string().min(1), message: z.string().min(1).max(MAX_MESSAGE_CHARS) }));
const promptsSchema = z.array(promptSchema).max(MAX_PROMPTS);

function isEverywhere({ who, groups, platforms }: Scene): boolean {
  return isEverybody(who) && groups === undefined && platforms === undefined;
}
