import { eachTerm, isStopTerm, type Term } from './search-terms.ts';

/** More words of one question say nothing more about its topic. */
const MAX_WORDS = 8;
const MAX_TEXT_CHARS = 2_000;
const MAX_WORD_CHARS = 40;
const SEGMENTER = new Intl.Segmenter('zh', { granularity: 'word' });
const HAN = /\p{Script=Han}/u;
/** Single characters that only connect words. */
const PARTICLES = new Set('的了是我你他在和有要能会去到不吧啊吗呢就都也还很多个为与或可把被给让从对向于之其这那谁几');
const ASKING = new Set(['怎么办', '什么时候', '为什么', '多久', '不到', '不了']);

/**
 * The distinct words that say what a question is about, lower-cased and in order: no stop words, no single letters, and nothing
 * with a digit or a sign of an address, so that neither numbers of people nor e-mail addresses are among them.
 */
export function topicWords(text: string): string[] {
  const found = new Map<string, string>();
  const plain = text
    .slice(0, MAX_TEXT_CHARS)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\w.+@-]+/g, (run) => (/[\d@]/.test(run) ? ' ' : run));
  for (const word of wordsOf(plain)) {
    if (found.size === MAX_WORDS) break;
    if (word.length < (HAN.test(word) ? 2 : 3) || word.length > MAX_WORD_CHARS) continue;
    if (ASKING.has(word)) continue;
    const terms: Term[] = [];
    eachTerm(word, (term) => terms.push(term));
    const key = terms.filter((term) => !isStopTerm(term)).join(' ');
    if (key !== '' && !found.has(key)) found.set(key, word);
  }
  return [...found.values()];
}

/** The segmenter splits off last characters that belong to their words, such as 馆 of 图书馆. */
function* wordsOf(text: string): Generator<string> {
  let word = '';
  for (const { segment, isWordLike } of SEGMENTER.segment(text)) {
    const isTail = segment.length === 1 && HAN.test(segment) && !PARTICLES.has(segment);
    if (isTail && word.length > 1 && HAN.test(word)) {
      word += segment;
      continue;
    }
    if (word !== '') yield word;
    word = isWordLike === true ? segment : '';
  }
  if (word !== '') yield word;
}
