import type { KeyRing } from '../../base/key-ring.ts';
import { say } from '../../base/texts.ts';
import { WORD_TEXTS } from '../../texts/word-texts.ts';
import type { TurnScene } from '../run-turn.ts';
import type { Outcome } from '../outcome.ts';
import { sayTo } from '../say-to.ts';
import { AUTO_WORDS, LANGUAGE_WORDS } from './argument-words.ts';
import { chosen, plainArgument, sentences } from './choice.ts';

/** /lang: in which language the bot itself speaks to this person in this chat. What the model speaks is the model's affair. */
export function chooseLanguage(keyRing: KeyRing, scene: TurnScene, argument: string): Outcome {
  const { language } = scene.question;
  const how = sayTo(scene, WORD_TEXTS.langHow);
  if (argument === '') {
    const now = say(WORD_TEXTS[scene.preferences.language ? 'langIs' : 'langAuto'], language);
    return { kind: 'command', text: sentences(language, now, how) };
  }
  const asked = plainArgument(argument);
  if (AUTO_WORDS.has(asked)) return chosen(keyRing, scene, { language: undefined }, say(WORD_TEXTS.langAuto, language));
  const next = LANGUAGE_WORDS.get(asked);
  if (next) return chosen(keyRing, scene, { language: next }, say(WORD_TEXTS.langChosen, next));
  return {
    kind: 'command',
    text: sentences(language, say(WORD_TEXTS.langUnknown, language), how),
  };
}
