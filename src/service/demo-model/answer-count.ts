import { localize } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/** Long enough to test long answers, short enough not to keep the service busy for hours. */
const MAX_WORDS = 20_000;

const COUNT_EN = /\bcount\s+(?:up\s+)?(?:from\s+(\d{1,6})\s+)?(?:up\s+)?to\s+(\d{1,6})\b/i;
const COUNT_ZH = /(?:从\s*(\d{1,6})\s*)?数到\s*(\d{1,6})/;
const WORDS_EN =
  /\b(?:say|write|speak|produce|generate|give|answer)\b[^.?!\d]{0,60}\b(\d{1,6})[\s-]*(?:words?|tokens?)\b/i;
const WORDS_ZH = /(?:说|写|来|给)[^。？！\d]{0,12}(\d{1,6})\s*(?:个\s*)?(?:字|词)/;
const REPEAT = /^(?:please\s+)?(?:repeat(?:\s+after\s+me)?|echo|重复|跟我说)\s*[:：]\s*(\S[\s\S]*)$/i;

const WORDS: readonly string[] =
  'river stone morning paper window garden letter market silver bridge autumn lantern'.split(' ');
const HAN_WORDS = '山水风云日月春秋松竹梅兰江湖书画琴棋';

/** Counts, writes an exact number of words, or repeats. Deterministic, with each number or word as one token. */
export function answerCount({ text, language }: Question): Finding | undefined {
  const repeated = REPEAT.exec(text)?.[1];
  if (repeated !== undefined) return { text: repeated, thought: localize(BUILT_IN_TEXTS.thoughtTalk, language) };
  const words = countedWords(text) ?? numberOfWords(text);
  if (!words) return undefined;
  return { text: words.text, thought: localize(BUILT_IN_TEXTS.thoughtCount, language, { count: words.count }) };
}

function countedWords(text: string): { text: string; count: number } | undefined {
  const match = COUNT_EN.exec(text) ?? COUNT_ZH.exec(text);
  if (!match) return undefined;
  const from = Number(match[1] ?? 1);
  const to = Number(match[2]);
  const step = to < from ? -1 : 1;
  const count = Math.min(Math.abs(to - from) + 1, MAX_WORDS);
  return { text: Array.from({ length: count }, (_, index) => from + index * step).join(' '), count };
}

function numberOfWords(text: string): { text: string; count: number } | undefined {
  const english = WORDS_EN.exec(text);
  const count = Math.min(Number((english ?? WORDS_ZH.exec(text))?.[1] ?? 0), MAX_WORDS);
  if (count === 0) return undefined;
  const list = english ? WORDS : [...HAN_WORDS];
  return {
    text: Array.from({ length: count }, (_, index) => list[index % list.length]).join(english ? ' ' : ''),
    count,
  };
}
