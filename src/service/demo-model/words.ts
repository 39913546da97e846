import { GLOSSARY, TOOL_GLOSSARY } from './glossary.ts';

const STOP_WORDS = new Set(
  (
    'a an the and or of in on at to for from by with as is am are was were be been do does did can could should would will shall may ' +
    'i you we they it he she me my your our us them this that these those there here how what which who whom whose when where why ' +
    'please tell explain show give about into than then so if not no any some does mean means work works use using used need want must ' +
    'get have has let know make find become own happen'
  ).split(' '),
);

/** In our pages "sign" nearly always means signing in, the opposite of signing out. */
const SIGN_OUT = /\b(?:sign|log)(?:ing|ging)?[\s-]?(?:out|off)\b/gi;
/** Maximum length of a word, to limit the depth of the search tree. */
const MAX_WORD_CHARS = 40;

/** Normalizes a word for comparison: lower case, without the most common English endings. */
export function wordStem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length > 4 && lower.endsWith('ies')) return `${lower.slice(0, -3)}y`;
  const singular = lower.length > 4 && /[^s]s$/.test(lower) ? lower.slice(0, -1) : lower;
  return singular.replace(/^([a-z]{4,}?)(?:ing|ed)$/, '$1');
}

/**
 * The words of a text: Latin words as stems, names such as GROUP_SCOPE also in full, Chinese as pairs of neighbouring
 * characters.
 */
export function wordsOf(text: string): string[] {
  const latin =
    text.match(/[\p{Letter}\p{Number}]+/gu)?.flatMap((run) => run.match(/[^\p{Script=Han}]+/gu) ?? []) ?? [];
  const names = text.match(/(?<![a-z\d])[a-z\d]+(?:_[a-z\d]+)+/gi) ?? [];
  return [...[...latin, ...names].filter((word) => word.length <= MAX_WORD_CHARS).map(wordStem), ...hanPairs(text)];
}

/** The significant words of a text. Chinese words of our domain and for tools also yield their English terms. */
export function contentWordsOf(text: string): string[] {
  const forTools = TOOL_GLOSSARY.flatMap(([asked, english]) => (asked.test(text) ? english.split(' ') : []));
  return tellingWords([...wordsOf(text), ...translationsOf(text), ...forTools]);
}

/** The same for our English pages, without the Chinese words, which they do not contain. */
export function englishWordsOf(text: string): string[] {
  const latin = wordsOf(text.replace(/\p{Script=Han}+/gu, ' ').replace(SIGN_OUT, 'unlink'));
  return tellingWords([...latin, ...translationsOf(text)]);
}

/** A pattern for a name as a separate word. Chinese has no spaces to separate words. */
export function standingAlone(name: string): string {
  return String.raw`(?<![\p{L}\d_])${name.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}(?![\p{L}\d_])`;
}

function translationsOf(text: string): string[] {
  return GLOSSARY.flatMap(([asked, english]) => (asked.test(text) ? english.split(' ') : []));
}

function tellingWords(words: string[]): string[] {
  return [...new Set(words.map(wordStem).filter((word) => !STOP_WORDS.has(word)))];
}

function hanPairs(text: string): string[] {
  return (text.match(/\p{Script=Han}+/gu) ?? []).flatMap((run) => {
    const letters = [...run];
    return letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
  });
}
