import { Breath } from '../../../shared/event-loop-yielder.ts';
import { queryWords, type QueryWord } from '../../../shared/text/query-words.ts';
import { anywhereTerms, eachTerm, type Term, type TermForm } from '../../../shared/text/search-terms.ts';
import type { KeptFile } from './kept-file.ts';

/** A piece of a file that a prompt holds as a whole or not at all. */
export interface Piece {
  /** Which of the file's parts it is of. */
  part: number;
  /** How that part is called. */
  label?: string;
  /** A table's head, where the piece begins in the midst of one. */
  head?: string;
  text: string;
  /** Where it stands in all that the file says. Characters. */
  from: number;
  /** How well it fits the question; 0 where it holds nothing of it. */
  fit: number;
}

/** A passage with its surroundings, and few enough tokens that several fit, in Chinese too. */
const PIECE_CHARS = 600;
/** What a question is about; a whole page that somebody pasted says no more by its later words. */
const MOST_TERMS = 64;
/** Beyond so many times a word says nothing more of a piece. */
const SATURATED_AT = 1.2;
/** What stands in a name counts so often. */
const LABEL_WEIGHT = 2;
/** A piece that fits so much less than the best one fits by accident. */
const LEAST_SHARE_OF_BEST = 0.25;
/** Where a piece had best end. */
const ENDINGS = ['\n', '。', '. ', ' '];
/** What stands beside a fitting piece goes on with it. */
const NEIGHBOUR_SHARE = 0.25;

/**
 * Divides files into pieces and says how well each fits a question, by the words that both have: rare ones count more. Linear in
 * what the files say, and interrupted for whatever else the process has to do.
 * @returns of each file its pieces in their order; none of a file that holds nothing of the question
 */
export async function piecesFor(files: readonly KeptFile[], question: string): Promise<Piece[][]> {
  const words = queryWords(question, MOST_TERMS);
  if (words.length === 0) return files.map(() => []);
  const looked = new Set(words.flatMap(({ anyOf, orElse }) => (orElse === undefined ? anyOf : [...anyOf, orElse])));
  const terms = new Map([...looked].map((term, index) => [term, index]));
  const breath = new Breath();
  const counted: Counted[][] = [];
  for (const file of files) {
    const pieces: Counted[] = [];
    for (const piece of dividedFile(file)) {
      pieces.push({ piece, counts: countsIn(piece, terms) });
      if (breath.isDue) await breath.take();
    }
    counted.push(pieces);
  }
  countWords(counted.flat(), words, terms);
  const weights = weightsOf(counted.flat(), words.length);
  const fits = counted.map((pieces) => pieces.map(({ counts }) => fitOf(counts, weights)));
  const best = fits.flat().reduce((most, fit) => Math.max(most, fit), 0);
  return counted.map((pieces, at) => {
    const own = (fits[at] ?? []).map((fit) => (fit >= best * LEAST_SHARE_OF_BEST ? fit : 0));
    if (!own.some((fit) => fit > 0)) return [];
    return pieces.map(({ piece }, index) => {
      const beside = Math.max(own[index - 1] ?? 0, own[index + 1] ?? 0);
      const fit = own[index] ?? 0;
      return { ...piece, fit: fit === 0 ? 0 : fit + NEIGHBOUR_SHARE * beside };
    });
  });
}

/** How often each of a question's terms, and then of its words, stands in a piece; undefined where none does. */
interface Counted {
  piece: Piece;
  counts: Float64Array | undefined;
}

function countsIn({ label, text }: Piece, terms: ReadonlyMap<Term, number>): Float64Array | undefined {
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

/** Turns counts of terms into counts of words: of the term that a piece has most often, or of the other one where no piece has any. */
function countWords(pieces: readonly Counted[], words: readonly QueryWord[], terms: ReadonlyMap<Term, number>): void {
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

/** What each term is worth: much where few pieces have it, nothing where all have. */
function weightsOf(pieces: readonly Counted[], termCount: number): number[] {
  const having = new Array<number>(termCount).fill(0);
  for (const { counts } of pieces)
    counts?.forEach((count, index) => (having[index] = (having[index] ?? 0) + (count > 0 ? 1 : 0)));
  return having.map((have) => Math.log(1 + (pieces.length - have + 0.5) / (have + 0.5)));
}

function fitOf(counts: Float64Array | undefined, weights: readonly number[]): number {
  if (!counts) return 0;
  return weights.reduce((sum, weight, index) => {
    const count = counts[index] ?? 0;
    return sum + (weight * count) / (count + SATURATED_AT);
  }, 0);
}

function* dividedFile({ parts }: KeptFile): Generator<Piece> {
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

/** Behind a line where one ends in time, else behind a blank, else anywhere but within a character. */
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

/** The two lines with which a table begins, wherever it stands in a part. */
function tableHead(text: string): string | undefined {
  return /(?<![^\n])\|[^\n]*\n\|[ :|-]+\|(?![^\n])/.exec(text)?.[0];
}
