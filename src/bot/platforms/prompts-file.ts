import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { stripInvisible } from '../../shared/text/sanitize-text.ts';
import type { Language } from '../../shared/text/texts.ts';

/** A question suggested to a person who has not written yet. */
export interface SuggestedPrompt {
  /** Label of the button; one line. */
  title: string;
  /** The message that choosing it sends. */
  message: string;
}

/** Suggested questions by language; an empty list suggests none. */
export type SuggestedPrompts = Readonly<Record<Language, readonly SuggestedPrompt[]>>;

/** Maximum questions; Slack shows no more. */
const MAX_PROMPTS = 4;
const MAX_TITLE_CHARS = 75;
const MAX_MESSAGE_CHARS = 1_000;

/** Parses the file at `PROMPTS_FILE`. @throws ConfigFileError listing every fault */
export function parsePromptsFile(text: string): SuggestedPrompts {
  const { en, zh } = readJsonFile(text, promptsSchema);
  return { en, zh };
}

/** Invisible characters are removed before counting, because a title of only such characters would be an empty button. */
function visible(maxChars: number) {
  return z
    .string()
    .transform((given) => stripInvisible(given).trim())
    .pipe(z.string().min(1).max(maxChars));
}

const prompt = z.strictObject({
  title: visible(MAX_TITLE_CHARS).refine((title) => !/[\r\n]/.test(title), 'Must be a single line'),
  message: visible(MAX_MESSAGE_CHARS),
});
const prompts = z.array(prompt).max(MAX_PROMPTS);

const promptsSchema = z.strictObject({
  /** Notes for readers of the file, since JSON has no comments. */
  about: z.union([z.string(), z.array(z.string())]).optional(),
  zh: prompts,
  en: prompts,
});
