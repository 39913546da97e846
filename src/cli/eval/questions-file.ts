import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { ConfigFileError } from '../../shared/json-file.ts';
import { formatZodIssue, formatIssuePath } from '../../shared/text/format-zod-error.ts';

/** A question of the file and the criteria for its answer. */
export interface Question {
  ask: string;
  /** A person of the directory, `JG 3100`, or `unlinked`. Defaults to the directory's first. */
  as?: string;
  /** Group id. Defaults to the private chat. */
  group?: string;
  /** Texts that must occur in the answer. Case-insensitive. */
  must: readonly string[];
  /** Texts that must not occur in the reply. */
  mustNot: readonly string[];
  /** Titles of documents that the answer must use. */
  source: readonly string[];
  /** Criterion for the judge model. */
  judge?: string;
}

/** The value of `group` for any group. */
export const SOME_GROUP = 'some';
const MAX_QUESTIONS = 1_000;

/**
 * Parses a questions file, in YAML or JSON.
 * @throws ConfigFileError with all errors
 */
export function parseQuestions(text: string): readonly Question[] {
  const parsed = questionsSchema.safeParse(readYaml(text), { error: formatZodIssue });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${formatIssuePath(path)}: ${message}`);
  throw new ConfigFileError('file_invalid', faults);
}

function readYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    const { linePos, code } = error;
    throw new ConfigFileError('file_not_json', [`is not valid YAML (${code}) at line ${linePos?.[0].line ?? '?'}`]);
  }
}

/** YAML numbers and dates need no quotes. */
const words = z
  .union([z.string(), z.number(), z.boolean()], 'Must be a string')
  .transform(String)
  .pipe(z.string().trim().min(1));
const several = z.union([words.transform((one) => [one]), z.array(words)], 'Must be a string or a list of strings');

const place = z
  .string()
  .regex(/^(?:private|group(?:\s+\S+)?)$/, 'Must be private, group, or group followed by its id')
  .transform((given) => (given === 'private' ? undefined : (given.split(/\s+/)[1] ?? SOME_GROUP)));

const questionSchema = z
  .strictObject({
    ask: words,
    as: words.optional(),
    in: place.optional(),
    must: several.default([]),
    mustNot: several.default([]),
    source: several.default([]),
    judge: words.optional(),
  })
  .transform(({ in: group, ...rest }): Question => ({ ...rest, group }));

const questionsSchema = z.array(questionSchema).min(1, 'contains no questions').max(MAX_QUESTIONS);
