import type { Language } from '../../../shared/text/texts.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { sealPreferences, type Preferences } from '../conversation/preferences.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

const MAX_ECHOED_CHARS = 40;

/** Returns a person's choice for the commit, with the text of the reply. @param change `undefined` resets a choice */
export function saveChoice(
  keyRing: KeyRing,
  { newest, preferences }: TurnContext,
  change: { [Name in keyof Preferences]: Preferences[Name] | undefined },
  text: string,
): Outcome {
  // JSON omits undefined fields.
  const next = { ...preferences, ...change };
  return { kind: 'command', text, preferences: sealPreferences(keyRing, newest, next) };
}

/** User input on one line and of limited length, for display in a sentence. */
export function echoInput(argument: string): string {
  const shown = argument.replace(/[\s`“”]+/g, ' ').trim();
  return [...shown].length > MAX_ECHOED_CHARS ? `${[...shown].slice(0, MAX_ECHOED_CHARS).join('')}…` : shown;
}

/** Joins sentences; Chinese uses no separator. */
export function sentences(language: Language, ...said: string[]): string {
  return said.join(language === 'zh' ? '' : ' ');
}

/** Maximum argument length; longer than any name or level. */
const MAX_ARGUMENT_CHARS = 200;

/** Normalizes an argument for comparison: lower case, without the full stop that a voice transcript ends with. */
export function normalizeArgument(argument: string): string {
  return argument
    .slice(0, MAX_ARGUMENT_CHARS)
    .replace(/(?<![。.!！])[。.!！]+$/, '')
    .trim()
    .toLowerCase();
}
