import { say, withoutSlashes, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { describePlatform } from '../../platforms/registry.ts';

/** A text that names words of the bot, as they are typed in the app that the reader came from. */
export function sayWords(text: Bilingual, language: Language, platform: PlatformName | undefined): string {
  const words = say(text, language);
  return platform !== undefined && describePlatform(platform).bareWords ? withoutSlashes(words) : words;
}

/** A name within a sentence: in Chinese one in Latin letters stands apart from its neighbours. */
export function inSentence(name: string, language: Language): string {
  if (language === 'en') return name;
  return name.replace(/^(?=[\x21-\x7e])/, ' ').replace(/(?<=[\x21-\x7e])$/, ' ');
}
