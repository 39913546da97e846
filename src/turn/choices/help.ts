import { say, type Bilingual, type Language } from '../../base/texts.ts';
import { SLASH_SPELLINGS, type SlashWord } from '../../platforms/slash-words.ts';
import { WORD_HELP, WORD_TEXTS } from '../../texts/word-texts.ts';
import type { TurnScene } from '../run-turn.ts';
import type { Outcome } from '../turn-types.ts';

/** The compiler refuses a word that /help says nothing about. */
const LINES: Readonly<Record<SlashWord, Bilingual>> = WORD_HELP;

/**
 * /help: every word that works here, in the person's language and spelling.
 * @param privateWords those that a group is not told of
 */
export function help({ newest, question: { language } }: TurnScene, privateWords: ReadonlySet<SlashWord>): Outcome {
  const isGroup = newest.chat.kind === 'group';
  const words = (Object.keys(WORD_HELP) as SlashWord[])
    .filter((word) => !(isGroup && privateWords.has(word)))
    .map((word) => lineOf(word, language))
    .join('\n');
  return { kind: 'command', text: say(WORD_TEXTS[isGroup ? 'helpGroup' : 'help'], language, { words }) };
}

function lineOf(word: SlashWord, language: Language): string {
  const [english = '', chinese = english] = SLASH_SPELLINGS[word];
  const spelling = language === 'zh' ? `/${chinese.replace(/^\//, '')}` : english;
  return `- \`${spelling}\` ${LINES[word][language]}`;
}
