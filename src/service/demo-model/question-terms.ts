import type { Language } from '../../shared/text/texts.ts';
import { GLOSSARY } from './glossary.ts';
import { englishWordsOf, wordsOf } from './words.ts';

/** Chinese question words. */
export const ASKING_WORDS: ReadonlySet<string> = new Set(
  (
    '什么 怎么 怎样 如何 哪里 哪些 哪个 为什么 为何 多少 多久 几个 请问 告诉 可以 能够 能否 是否 应该 需要 知道 意思 一下 一个 一些 ' +
    '我们 你们 他们 它们 自己 自带 没有 这个 那个 这些 那些 使用 有没有 怎么样 怎么办 如果 时候 查看 忘记 接到'
  ).split(' '),
);
const HAN = /\p{Script=Han}/u;
/** Words without significance: every page is about Parley and its bot, and words for its internals only select the page. */
const NAMES_NO_MATTER = new Set(
  'parley bot architecture inside internal internally code source 架构 内部 原理 实现 机器 器人'.split(' '),
);
/** Numbers occur everywhere in the pages, and no page is about one. */
const NUMBER = /^\d+$/;
const SETTING_NAME = /\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g;
const ASKS_ABOUT_INSIDE =
  /\b(?:architecture|inside|internal(?:ly|s)?|source|code|rooms?|scripts?|lua|epochs?|fence[ds]?|sweeper|bullmq|implement\w*|design(?:ed)?|developers?)\b|架构|原理|内部|源码|代码|实现|底层|脚本/i;

/** Search terms for the pages of one language. In Chinese, character pairs are formed within words, not across them. */
export function termsOf(question: string, language: Language): string[] {
  const terms = language === 'en' ? englishWordsOf(question) : chineseTerms(question);
  const telling = terms.filter((term) => !NAMES_NO_MATTER.has(term) && !NUMBER.test(term));
  return telling.length > 0 ? telling : terms.filter((term) => !NUMBER.test(term));
}

/** Settings named in a question, as written. A page that does not contain them cannot answer it. */
export function settingNamesIn(question: string): string[] {
  return question.match(SETTING_NAME) ?? [];
}

/** Whether a question is clearly about Parley's design rather than its use or operation. */
export function asksAboutInside(question: string): boolean {
  return ASKS_ABOUT_INSIDE.test(question);
}

function chineseTerms(question: string): string[] {
  const latin = englishWordsOf(question.replace(/\p{Script=Han}+/gu, ' '));
  const words = [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(question)]
    .map(({ segment }) => segment)
    .filter((segment) => HAN.test(segment) && segment.length > 1 && !ASKING_WORDS.has(segment));
  const synonyms = GLOSSARY.flatMap(([asked, , chinese]) => (asked.test(question) ? [chinese] : []));
  return [...new Set([...latin, ...[...words, ...synonyms].flatMap(wordsOf)])];
}
