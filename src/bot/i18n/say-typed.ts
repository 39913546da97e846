import { say, withoutSlashes, type Bilingual, type Language } from '../../shared/text/texts.ts';

/** How the bot speaks in one chat. */
export interface Voice {
  language: Language;
  /** Whether people type the bot's English words there without a slash. */
  bareWords?: boolean;
}

/**
 * Says a text of the bot's with its words as people type them where they read it: `/help`, or “help” where the app keeps what begins with
 * a slash for itself. The catalogue writes them with the slash. What fills the text stays as it is.
 */
export function sayTyped(
  text: Bilingual,
  { language, bareWords = false }: Voice,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return say(bareWords ? { ...text, [language]: withoutSlashes(text[language]) } : text, language, values);
}
