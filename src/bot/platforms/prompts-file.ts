import { z } from 'zod';
import { readJsonFile } from '../../shared/json-file.ts';
import { withoutUnseen } from '../../shared/text/sanitize-text.ts';
import type { Language } from '../../shared/text/texts.ts';

/** A question that is offered to somebody who has not said anything yet. */
export interface SuggestedPrompt {
  /** What the button says; one line. */
  title: string;
  /** What the person says by choosing it. */
  message: string;
}

/** What is offered to whom, by their language; an empty list offers nothing. */
export type SuggestedPrompts = Readonly<Record<Language, readonly SuggestedPrompt[]>>;

/** Slack shows no more. */
const MOST_PROMPTS = 4;
const MOST_TITLE_CHARS = 75;
const MOST_MESSAGE_CHARS = 1_000;

/** Reads the text of the file at `PROMPTS_FILE`. @throws ConfigFileError with every fault */
export function parsePromptsFile(text: string): SuggestedPrompts {
  const { en, zh } = readJsonFile(text, promptsSchema);
  return { en, zh };
}

/** What nobody sees is taken out before anything is counted: a title of nothing else would be an empty button. */
function visible(mostChars: number) {
  return z
    .string()
    .transform((given) => withoutUnseen(given).trim())
    .pipe(z.string().min(1).max(mostChars));
}

const prompt = z.strictObject({
  title: visible(MOST_TITLE_CHARS).refine((title) => !/[\r\n]/.test(title), 'Must be one line'),
  message: visible(MOST_MESSAGE_CHARS),
});
const prompts = z.array(prompt).max(MOST_PROMPTS);

const promptsSchema = z.strictObject({
  /** Words for who reads the file, since JSON has no comments. */
  about: z.union([z.string(), z.array(z.string())]).optional(),
  zh: prompts,
  en: prompts,
});
