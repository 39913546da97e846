import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import { queryWords, type QueryWord } from '../../../shared/text/query-words.ts';
import { anywhereTerms, eachTerm, type Term, type TermForm } from '../../../shared/text/search-terms.ts';
import type { StoredFile } from './kept-file.ts';

/** A chunk of a file; a prompt contains it whole or not at all. */
export interface Chunk {
  /** Index of the chunk's part within the file. */
  part: number;
  /** Label of that part. */
  label?: string;
  /** Header of the table, if the chunk begins inside one. */
  head?: string;
  text: string;
  /** Character offset in the text of the whole file. */
  from: number;
  /** Relevance to the question; 0 if the chunk contains none of its words. */
  fit: number;
}

/** Chunk size: a passage with its context, small enough that several fit, in Chinese too. */
const PIECE_CHARS = 600;
/** Maximum words taken from a question; later words of a pasted page add nothing. */
const MAX_TERMS = 64;
/** Saturation of the word frequency: further occurrences of a word in a chunk add little. */
const SATURATED_AT = 1.2;
const LABEL_WEIGHT = 2;
/** Minimum relevance relative to the best chunk; below it, matches are considered accidental. */
const MIN_SHARE_OF_BEST = 0.25;
/** Preferred chunk boundaries, best first. */
const ENDINGS = ['\n', '。', '. ', ' '];
/** Share of a neighbouring chunk's relevance that is added, because relevant text continues there. */
const NEIGHBOUR_SHARE = 0.25;

/**
 * Splits files into chunks and ranks them by the words shared with a question; rare words count more. Linear in the size of
 * the files, and yields to the event loop.
 * @returns the chunks of each file in order; none for a file without any word of the question
 */
export async function rankChunks(files: readonly StoredFile[], question: string): Promise<Chunk[][]> {
  const words = queryWords(question, MAX_TERMS);
  if (words.length === 0) return files.map(() => []);
  const terms = termsOf(words);
  const yielder = new EventLoopYielder();
  const counted: CountedChunk[][] = [];
  for (const file of files) {
    const pieces: CountedChunk[] = [];
    for (const piece of splitIntoChunks(file)) {
      pieces.push({ piece, counts: countsIn(piece, terms) });
      if (yielder.isDue) await yielder.yieldNow();
    }
    counted.push(pieces);
  }
  countWords(counted.flat(), words, terms);
  const weights = weightsOf(counted.flat(), words.length);
  const fits = counted.map((pieces) => pieces.map(({ counts }) => scoreOf(counts, weights)));
  const best = fits.flat().reduce((most, fit) => Math.max(most, fit), 0);
  return counted.map((pieces, at) => {
    const own = (fits[at] ?? []).map((fit) => (fit >= best * MIN_SHARE_OF_BEST ? fit : 0));
    if (!own.some((fit) => fit > 0)) return [];
    return pieces.map(({ piece }, index) => {
      const beside = Math.max(own[index - 1] ?? 0, own[index + 1] ?? 0);
      const fit = own[index] ?? 0;
      return { ...piece, fit: fit === 0 ? 0 : fit + NEIGHBOUR_SHARE * beside };
    });
  });
}

/** Whether a file has any of these words. Stops at the first chunk that has one. */
export async function hasAnyWord(file: StoredFile, words: readonly QueryWord[]): Promise<boolean> {
  const terms = termsOf(words);
  const yielder = new EventLoopYielder();
  for (const piece of splitIntoChunks(file)) {
    if (countsIn(piece, terms)) return true;
    if (yielder.isDue) await yielder.yieldNow();
  }
  return false;
}

/** The terms to look up, each with its index. */
function termsOf(words: readonly QueryWord[]): Map<Term, number> {
  const looked = new Set(words.flatMap(({ anyOf, orElse }) => (orElse === undefined ? anyOf : [...anyOf, orElse])));
  return new Map([...looked].map((term, index) => [term, index]));
}

/** Frequency of each query term, later of each query word, in a chunk; undefined if it contains none. */
interface CountedChunk {
  piece: Chunk;
  counts: Float64Array | undefined;
}

function countsIn({ label, text }: Chunk, terms: ReadonlyMap<Term, number>): Float64Array | undefined {
  let counts: Float64Array | undefined;
  const add = (term: Term | undefined, weight: number) => {
    const index = term === undefined ? undefined : terms.get(term);
    if (index === undefined) return;
    counts ??= new Float64Array(terms.size);
    counts[index] = (counts[index] ?? 0) + weight;
  };
  const count = (weight: number) => (term: Term) => {
    add(term, weight);
    add(anywhereTerms(term)[0], weight);
  };
  const countForm = (weight: number) => (form: Term, kind: TermForm) => {
    if (kind !== 'question') count(weight)(form);
  };
  eachTerm(text, count(1), countForm(1));
  if (label !== undefined) eachTerm(label, count(LABEL_WEIGHT), countForm(LABEL_WEIGHT));
  return counts;
}

/** Converts term counts into word counts: the most frequent term of a word, or its alternative if no chunk contains any. */
function countWords(
  pieces: readonly CountedChunk[],
  words: readonly QueryWord[],
  terms: ReadonlyMap<Term, number>,
): void {
  const countOf = (counts: Float64Array, term: Term) => counts[terms.get(term) ?? -1] ?? 0;
  const chosen = words.map(({ anyOf, orElse }) => {
    const isFound = pieces.some(({ counts }) => counts && anyOf.some((term) => countOf(counts, term) > 0));
    return isFound || orElse === undefined ? anyOf : [orElse];
  });
  for (const piece of pieces) {
    const { counts } = piece;
    if (counts)
      piece.counts = Float64Array.from(chosen, (any) => Math.max(...any.map((term) => countOf(counts, term))));
  }
}

/** Weight of each word: high if few chunks contain it, about zero if all do. */
function weightsOf(pieces: readonly CountedChunk[], termCount: number): number[] {
  const having = new Array<number>(termCount).fill(0);
  for (const { counts } of pieces)
    counts?.forEach((count, index) => (having[index] = (having[index] ?? 0) + (count > 0 ? 1 : 0)));
  return having.map((have) => Math.log(1 + (pieces.length - have + 0.5) / (have + 0.5)));
}

function scoreOf(counts: Float64Array | undefined, weights: readonly number[]): number {
  if (!counts) return 0;
  return weights.reduce((sum, weight, index) => {
    const count = counts[index] ?? 0;
    return sum + (weight * count) / (count + SATURATED_AT);
  }, 0);
}

function* splitIntoChunks({ parts }: StoredFile): Generator<Chunk> {
  let from = 0;
  for (const [part, { label, text }] of parts.entries()) {
    const head = tableHead(text);
    let at = 0;
    while (at < text.length) {
      const end = endOfPiece(text, at);
      const piece = text.slice(at, end);
      const isWithin = at > 0 && head !== undefined && piece.startsWith('|');
      yield { part, label, head: isWithin ? head : undefined, text: piece, from: from + at, fit: 0 };
      at = end;
    }
    from += text.length;
  }
}

/** Ends a chunk after a line if possible, otherwise after a space, otherwise anywhere except inside a surrogate pair. */
function endOfPiece(text: string, at: number): number {
  const limit = at + PIECE_CHARS;
  if (limit >= text.length) return text.length;
  const window = text.slice(at, limit);
  for (const mark of ENDINGS) {
    const found = window.lastIndexOf(mark);
    if (found > PIECE_CHARS / 3) return at + found + mark.length;
  }
  const isWithinPair = (text.charCodeAt(limit) & 0xfc00) === 0xdc00;
  return isWithinPair ? limit + 1 : limit;
}

/** The first two lines of a table, anywhere in a part. */
function tableHead(text: string): string | undefined {
  return /(?<![^\n])\|[^\n]*\n\|[ :|-]+\|(?![^\n])/.exec(text)?.[0];
}
