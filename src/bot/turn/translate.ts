import type { Bilingual } from '../../shared/text/texts.ts';
import { describePlatform } from '../platforms/registry.ts';
import { sayTyped } from '../i18n/say-typed.ts';
import type { TurnContext } from './turn-context.ts';

/** Says a text to who asks, in their language, with the bot's words as they are typed on their platform. */
export function sayTo(
  { platform, question: { language } }: Pick<TurnContext, 'platform' | 'question'>,
  text: Bilingual,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return sayTyped(text, { language, bareWords: describePlatform(platform.name).bareWords }, values);
}
