import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localize } from '../../../shared/text/texts.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';
import { translate } from '../translate.ts';
import { AUTO_WORDS, LANGUAGE_WORDS } from './argument-words.ts';
import { saveChoice, normalizeArgument, sentences } from './choice.ts';

/**
 * /lang: sets the language of the bot's own texts for this person in this chat. The model chooses the language of its
 * answers itself.
 */
export function chooseLanguage(keyRing: KeyRing, context: TurnContext, argument: string): Outcome {
  const { language } = context.question;
  const how = translate(context, WORD_TEXTS.langHow);
  if (argument === '') {
    const now = localize(WORD_TEXTS[context.preferences.language ? 'langIs' : 'langAuto'], language);
    return { kind: 'command', text: sentences(language, now, how) };
  }
  const asked = normalizeArgument(argument);
  if (AUTO_WORDS.has(asked))
    return saveChoice(keyRing, context, { language: undefined }, localize(WORD_TEXTS.langAuto, language));
  const next = LANGUAGE_WORDS.get(asked);
  if (next) return saveChoice(keyRing, context, { language: next }, localize(WORD_TEXTS.langChosen, next));
  return {
    kind: 'command',
    text: sentences(language, localize(WORD_TEXTS.langUnknown, language), how),
  };
}
