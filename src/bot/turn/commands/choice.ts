import type { Language } from '../../../shared/text/texts.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { sealPreferences, type Preferences } from '../conversation/preferences.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

const MOST_ECHOED_CHARS = 40;

/** What a person chose, to be kept with the commit, and what they read of it. @param change `undefined` takes a choice back */
export function chosen(
  keyRing: KeyRing,
  { newest, preferences }: TurnContext,
  change: { [Name in keyof Preferences]: Preferences[Name] | undefined },
  text: string,
): Outcome {
  // JSON leaves out what is undefined.
  const next = { ...preferences, ...change };
  return { kind: 'command', text, preferences: sealPreferences(keyRing, newest, next) };
}

/** What somebody typed, short and on one line, to be shown in a sentence. */
export function echoOf(argument: string): string {
  const shown = argument.replace(/[\s`“”]+/g, ' ').trim();
  return [...shown].length > MOST_ECHOED_CHARS ? `${[...shown].slice(0, MOST_ECHOED_CHARS).join('')}…` : shown;
}

/** Sentences one after the other; Chinese puts nothing between them. */
export function sentences(language: Language, ...said: string[]): string {
  return said.join(language === 'zh' ? '' : ' ');
}

/** Longer than every name and level that can be chosen. */
const MAX_ARGUMENT_CHARS = 200;

/** An argument as it is compared: without case, and without the full stop that a voice transcript ends with. */
export function plainArgument(argument: string): string {
  return argument
    .slice(0, MAX_ARGUMENT_CHARS)
    .replace(/(?<![。.!！])[。.!！]+$/, '')
    .trim()
    .toLowerCase();
}
