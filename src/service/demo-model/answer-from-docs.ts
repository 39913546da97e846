import { localize, type Language } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import type { DocSearch } from './doc-search.ts';
import type { DocSection } from './doc-sections.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';
import { wordsOf } from './words.ts';

const MAX_BLOCKS = 7;
const MAX_EXCERPT_CHARS = 1_100;
/** Maximum characters of a list of steps. Higher, because steps with a gap would mislead. */
const MAX_STEPS_CHARS = 2_600;
const MIN_STEPS = 3;
/** Minimum share of the question's words in the title. A question below it asks for a single step. */
const MIN_TITLE_SHARE = 0.5;
const STEP = /^\s*\d+[.)]\s/;
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s/;
/** Blocks that score much lower than the best one would only distract. */
const WEAK_SHARE = 0.6;
/** Weight for the block after a match: steps and commands follow their sentence. */
const FOLLOWING_WEIGHT = 0.5;

export function answerNothing({ language }: Question): Finding {
  return {
    text: localize(BUILT_IN_TEXTS.unknown, language),
    thought: localize(BUILT_IN_TEXTS.thoughtNothing, language),
  };
}

/** Answers from the best section of Parley's pages; undefined if none fits. */
export async function findInDocs(docs: DocSearch, { text, language }: Question): Promise<Finding | undefined> {
  const found = await docs.find(text, language);
  if (!found) return undefined;
  const { page, title } = found.section;
  const frame = found.language === language ? BUILT_IN_TEXTS.fromDocs : BUILT_IN_TEXTS.fromEnglishDocs;
  return {
    text: localize(frame, language, { excerpt: excerptOf(found.section, found.terms, language), page, title }),
    thought: localize(BUILT_IN_TEXTS.thoughtDocs, language, { terms: found.terms.join(', '), title, page }),
  };
}

/**
 * The part of a section that answers the question: its steps from the first one, if the question asks for the procedure in
 * the title; otherwise the blocks that share most words with the question. In page order, up to a readable length.
 */
function excerptOf({ title, blocks }: DocSection, terms: string[], language: Language): string {
  const wanted = new Set(terms);
  const hitsIn = (text: string) => new Set(wordsOf(text).filter((word) => wanted.has(word))).size;
  const isHowTo =
    blocks.filter((block) => STEP.test(block)).length >= MIN_STEPS && hitsIn(title) >= MIN_TITLE_SHARE * wanted.size;
  const chosen = isHowTo ? firstBlocks(blocks, language) : bestBlocks(blocks, blocks.map(hitsIn));
  return chosen.map((block, index) => (index === 0 ? '' : LIST_ITEM.test(block) ? '\n' : '\n\n') + block).join('');
}

function firstBlocks(blocks: string[], language: Language): string[] {
  let chars = 0;
  const end = blocks.findIndex((block) => (chars += block.length) > MAX_STEPS_CHARS);
  if (end < 0) return blocks;
  const kept = blocks.slice(0, Math.max(1, end));
  // A sentence that introduces omitted text would be left dangling.
  if (kept.length > 1 && /[:：]$/.test(kept.at(-1) ?? '')) kept.pop();
  return [...kept, localize(BUILT_IN_TEXTS.goesOnThere, language)];
}

function bestBlocks(blocks: string[], hits: number[]): string[] {
  const maxHits = Math.max(...hits);
  const rated = blocks.map((block, index) => ({
    block,
    index,
    score: (hits[index] ?? 0) + FOLLOWING_WEIGHT * (hits[index - 1] ?? 0) - index / 1_000,
  }));
  const chosen: typeof rated = [];
  let chars = 0;
  for (const candidate of rated.sort((left, right) => right.score - left.score).slice(0, MAX_BLOCKS)) {
    const isWeak = candidate.score < WEAK_SHARE * maxHits;
    if (chosen.length > 0 && (isWeak || chars + candidate.block.length > MAX_EXCERPT_CHARS)) continue;
    chosen.push(candidate);
    chars += candidate.block.length;
  }
  return chosen.sort((left, right) => left.index - right.index).map(({ block }) => block);
}
