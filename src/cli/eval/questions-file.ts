import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { ConfigFileError } from '../../shared/json-file.ts';
import { inOurWords, placeInFile } from '../../shared/text/format-zod-error.ts';

/** One question of the administrator's, and what has to be so of its answer. */
export interface Question {
  ask: string;
  /** Somebody of the directory, `JG 3100`, or `unlinked`; the directory's first unless told. */
  as?: string;
  /** A group by its id, where it is not the private chat. */
  group?: string;
  /** Stand in the answer, whatever the case of their letters. */
  must: readonly string[];
  /** Stand nowhere in what is shown. */
  mustNot: readonly string[];
  /** Titles of documents that the answer draws upon. */
  source: readonly string[];
  /** What a model is asked about the answer. */
  judge?: string;
}

/** Where a question is asked that says only `group`. */
export const SOME_GROUP = 'some';
const MOST_QUESTIONS = 1_000;

/** Reads a file of questions, in YAML or JSON. @throws ConfigFileError with every fault */
export function parseQuestions(text: string): readonly Question[] {
  const parsed = questionsSchema.safeParse(readYaml(text), { error: inOurWords });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${placeInFile(path)}: ${message}`);
  throw new ConfigFileError('file_invalid', faults);
}

function readYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    const { linePos, code } = error;
    throw new ConfigFileError('file_not_json', [`is no YAML (${code}) at line ${linePos?.[0].line ?? '?'}`]);
  }
}

/** A number or a date stands in YAML without quotes. */
const words = z
  .union([z.string(), z.number(), z.boolean()], 'Must be a text')
  .transform(String)
  .pipe(z.string().trim().min(1));
const several = z.union([words.transform((one) => [one]), z.array(words)], 'Must be a text or a list of texts');

const place = z
  .string()
  .regex(/^(?:private|group(?:\s+\S+)?)$/, 'Must be private, group, or group and its id')
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

const questionsSchema = z.array(questionSchema).min(1, 'There is no question in it').max(MOST_QUESTIONS);
