import { queryWords } from '../../../shared/text/query-words.ts';
import { eachTerm, type Term } from '../../../shared/text/search-terms.ts';
import { languageOfText } from '../../../shared/text/texts.ts';
import type { StoredFile } from './kept-file.ts';
import { hasAnyWord } from './rank-chunks.ts';

/** Words that refer to something said or sent before, or ask to work on a text. */
const REFERS_EN =
  /\b(?:it|its|this|that|these|those|they|them|their|there|above|below|previous|earlier|same|again|else|more|details?|files?|documents?|docs?|pdf|attach\w*|papers?|reports?|slides?|sheets?|spreadsheets?|tables?|columns?|rows?|pages?|sections?|chapters?|paragraphs?|figures?|text|author|title|summar\w*|translat\w*|explain\w*|rewrit\w*|shorten\w*|continue\w*|extract\w*|compar\w*|list)\b/i;
const REFERS_ZH =
  /[这那它该此其]|上面|上述|前面|刚才|文件|文档|附件|论文|报告|资料|材料|表格|全文|原文|作者|标题|总结|概括|摘要|翻译|解释|改写|缩短|继续|提取|比较|对比|列出|详细|还有|第.{1,4}[页章节条行列段]/;
/** A shorter question continues what was said before. */
const MIN_WORDS = 2;
const MAX_WORDS = 64;
/** Minimum share of a file's letters in the script of the question; below it, the languages differ. */
const MIN_SCRIPT_SHARE = 0.25;
/** Length of the text whose language is determined. */
const SAMPLE_CHARS = 4_000;

/**
 * Whether a question needs each of the files of earlier questions. A file is left out only if the question clearly has
 * another subject: it shares no word with the file, refers to nothing before it, and is in the language of the file.
 */
export async function neededFiles(files: readonly StoredFile[], question: string): Promise<boolean[]> {
  const words = queryWords(question, MAX_WORDS);
  const refers = words.length < MIN_WORDS || REFERS_EN.test(question) || REFERS_ZH.test(question);
  const asked = new Set(words.flatMap(({ anyOf }) => anyOf));
  const needed: boolean[] = [];
  for (const file of files) {
    const hasText = file.parts.some(({ text }) => text.trim() !== '');
    const mayNeed = refers || !hasText || isNamed(file, asked) || isInOtherLanguage(file, question);
    needed.push(mayNeed || (await hasAnyWord(file, words)));
  }
  return needed;
}

function isNamed({ name = '' }: StoredFile, asked: ReadonlySet<Term>): boolean {
  let isFound = false;
  const look = (term: Term) => (isFound ||= asked.has(term));
  eachTerm(name.replace(/\.\w{1,8}$/, '').replaceAll('_', ' '), look, look);
  return isFound;
}

/** Whether hardly any of a file's letters are of the question's script: then no word can be shared. */
function isInOtherLanguage({ parts }: StoredFile, question: string): boolean {
  let sample = '';
  for (const { text } of parts) if (sample.length < SAMPLE_CHARS) sample += text.slice(0, SAMPLE_CHARS);
  const han = sample.match(/\p{Script=Han}/gu)?.length ?? 0;
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const ofScript = languageOfText(question) === 'zh' ? han : letters - han;
  return ofScript < letters * MIN_SCRIPT_SHARE;
}
