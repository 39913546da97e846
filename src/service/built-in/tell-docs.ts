import { say } from '../../base/texts.ts';
import type { Finding, Question } from './compose-answer.ts';
import type { DocSearch } from './doc-search.ts';
import type { DocSection } from './doc-sections.ts';
import { BUILT_IN_TEXTS } from './texts.ts';
import { wordsOf } from './words.ts';

const MAX_BLOCKS = 7;
const MAX_EXCERPT_CHARS = 1_100;
/** A piece that answers is quoted with what follows it: steps and commands stand after their sentence. */
const FOLLOWING_WEIGHT = 0.5;

/** Answers from the best section of Parley's pages, or says that nothing was found. */
export async function tellDocs(docs: DocSearch, { text, language }: Question): Promise<Finding> {
  const found = await docs.find(text);
  if (!found)
    return { text: say(BUILT_IN_TEXTS.unknown, language), thought: say(BUILT_IN_TEXTS.thoughtNothing, language) };
  const { page, title } = found.section;
  return {
    text: say(BUILT_IN_TEXTS.fromDocs, language, { excerpt: excerptOf(found.section, found.terms), page, title }),
    thought: say(BUILT_IN_TEXTS.thoughtDocs, language, { terms: found.terms.join(', '), title, page }),
  };
}

/** The blocks that share most words with the question, in the page's order, up to a readable length. */
export function excerptOf({ blocks }: DocSection, terms: string[]): string {
  const wanted = new Set(terms);
  const hits = blocks.map((block) => new Set(wordsOf(block).filter((word) => wanted.has(word))).size);
  const rated = blocks.map((block, index) => ({
    block,
    index,
    score: (hits[index] ?? 0) + FOLLOWING_WEIGHT * (hits[index - 1] ?? 0) - index / 1_000,
  }));
  const chosen: typeof rated = [];
  let chars = 0;
  for (const candidate of rated.sort((left, right) => right.score - left.score).slice(0, MAX_BLOCKS)) {
    if (chosen.length > 0 && chars + candidate.block.length > MAX_EXCERPT_CHARS) continue;
    chosen.push(candidate);
    chars += candidate.block.length;
  }
  const inOrder = chosen.sort((left, right) => left.index - right.index).map(({ block }) => block);
  return inOrder
    .map((block, index) => (index === 0 ? '' : /^\s*([-*+]|\d+[.)])\s/.test(block) ? '\n' : '\n\n') + block)
    .join('');
}
