import { localize, withoutSlashes, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { describePlatform } from '../../platforms/registry.ts';

/** Localizes a text and adapts its commands to the user's app. */
export function localizeForPlatform(text: Bilingual, language: Language, platform: PlatformName | undefined): string {
  const words = localize(text, language);
  return platform !== undefined && describePlatform(platform).bareWords ? withoutSlashes(words) : words;
}

/** Spaces a name in a sentence: in Chinese text, a name in Latin letters is surrounded by spaces. */
export function inSentence(name: string, language: Language): string {
  if (language === 'en') return name;
  return name.replace(/^(?=[\x21-\x7e])/, ' ').replace(/(?<=[\x21-\x7e])$/, ' ');
}
