import { localize, withoutSlashes, type Bilingual, type Language } from '../../shared/text/texts.ts';

/** Language and command style of a chat. */
export interface Voice {
  language: Language;
  /** Whether users type the English commands without a slash there. */
  bareWords?: boolean;
}

/**
 * Localizes a text and adapts its commands to the chat: `/help`, or “help” if the app reserves messages that start with a
 * slash. The catalogue contains the slashes. Placeholder values are not changed.
 */
export function localizeForChat(
  text: Bilingual,
  { language, bareWords = false }: Voice,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return localize(bareWords ? { ...text, [language]: withoutSlashes(text[language]) } : text, language, values);
}
