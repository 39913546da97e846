import type { Bilingual } from '../../shared/text/texts.ts';
import { describePlatform } from '../platforms/registry.ts';
import { localizeForChat, type Voice } from '../i18n/say-typed.ts';
import type { TurnContext } from './turn-context.ts';

type Addressed = Pick<TurnContext, 'platform' | 'question'>;

/** The user's language, and the syntax of slash commands on the platform. */
export function voiceOf({ platform, question: { language } }: Addressed): Voice {
  return { language, bareWords: describePlatform(platform.name).bareWords };
}

/** Translates a text for the user, with slash commands in the syntax of the platform. */
export function translate(
  context: Addressed,
  text: Bilingual,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return localizeForChat(text, voiceOf(context), values);
}
