import type { DocumentEntry, Segment } from './segment.ts';
import type { CollectedPostings } from './postings.ts';
import { queryWords, type QueryWord } from '../../../shared/text/query-words.ts';
import type { Term } from '../../../shared/text/word-terms.ts';

export interface IndexQuery {
  query: string;
  /** Documents for which this returns false are ignored completely. */
  isReadable(entry: DocumentEntry): boolean;
  limit: number;
}

/** A matching document and its best passage, by their indexes in the segment. */
export interface Ranked {
  segment: Segment;
  document: number;
  passage: number;
  /** Between 0 and 1. */
  score: number;
}

/** Maximum query terms. Further terms are ignored. */
const MAX_TERMS = 64;
/** The usual Okapi BM25 constants: term frequency saturation and length normalization. */
const K1 = 1.2;
const B = 0.75;
/** Minimum share of the query's total weight that a passage must match, so that one rare word is not enough. */
const MIN_COVERAGE = 0.15;

/**
 * Ranks documents by their best passage (BM25). Unreadable documents are left out of everything, including the document
 * frequencies, so that a search reveals nothing about them (SECURITY.md knowledge-rights). The order does not depend on how
 * documents are distributed over segments.
 */
export function rankDocuments(segments: readonly Segment[], { query, isReadable, limit }: IndexQuery): Ranked[] {
  const words = queryWords(query, MAX_TERMS);
  if (words.length === 0) return [];
  const field = new PassageScorer(segments, isReadable);
  if (field.passages === 0) return [];
  let whole = 0;
  for (const word of words) whole += field.addWord(word);
  return field.best(limit, whole);
}

interface SegmentScores {
  segment: Segment;
  /** By document index. */
  isReadable: Uint8Array;
  /** By passage index. */
  scores: Float64Array;
  coverage: Float64Array;
}

/** Reused and cleared, because allocating new arrays would dominate the cost of a search. Searches do not overlap. */
const plots = new WeakMap<Segment, SegmentScores>();

function plotOf(segment: Segment): SegmentScores {
  const { passages } = segment;
  const plot = plots.get(segment) ?? {
    segment,
    isReadable: new Uint8Array(segment.parts.documents.length),
    scores: new Float64Array(passages),
    coverage: new Float64Array(passages),
  };
  plots.set(segment, plot);
  plot.isReadable.fill(0);
  plot.scores.fill(0);
  plot.coverage.fill(0);
  return plot;
}

/** The scores of one search. */
class PassageScorer {
  readonly passages: number;
  readonly #plots: readonly SegmentScores[];
  readonly #averageLength: number;
  /** Postings of the current term, segment by segment. */
  readonly #found: CollectedPostings;
  /** Terms already searched as a fallback. */
  readonly #fallbacks = new Set<Term>();

  constructor(segments: readonly Segment[], isReadable: (entry: DocumentEntry) => boolean) {
    let passages = 0;
    let terms = 0;
    this.#plots = segments.map((segment) => {
      const { documents } = segment.parts;
      const plot = plotOf(segment);
      for (const [document, entry] of documents.entries()) {
        if (segment.isDeleted(document) || !isReadable(entry)) continue;
        plot.isReadable[document] = 1;
        passages += entry.passages;
        terms += entry.terms;
      }
      return plot;
    });
    this.passages = passages;
    this.#found = { passages: new Uint32Array(passages), counts: new Uint32Array(passages) };
    this.#averageLength = passages === 0 ? 1 : terms / passages;
  }

  /** Adds the scores of one query word. @returns its weight */
  addWord({ anyOf, orElse, isOptional }: QueryWord): number {
    const added = this.#add(anyOf);
    if (added.found > 0) return added.weight;
    if (orElse === undefined) return isOptional ? 0 : added.weight;
    if (this.#fallbacks.has(orElse)) return 0;
    this.#fallbacks.add(orElse);
    return this.#add([orElse]).weight;
  }

  #add(anyOf: readonly Term[]): { found: number; weight: number } {
    const { passages, counts } = this.#found;
    let found = 0;
    const ends = this.#plots.map(
      ({ segment, isReadable }) => (found = segment.collect(anyOf, isReadable, this.#found, found)),
    );
    const weight = Math.log(1 + (this.passages - found + 0.5) / (found + 0.5));
    const least = K1 * (1 - B);
    const each = (K1 * B) / this.#averageLength;
    let at = 0;
    for (const [plot, { segment, scores, coverage }] of this.#plots.entries()) {
      const { length } = segment.parts.passages;
      const end = ends[plot] as number;
      for (; at < end; at += 1) {
        const passage = passages[at] as number;
        const count = counts[at] as number;
        const slowdown = least + each * (length[passage] as number);
        scores[passage]! += (weight * count) / (count + slowdown);
        coverage[passage]! += weight;
      }
    }
    return { found, weight };
  }

  best(limit: number, whole: number): Ranked[] {
    const best: Ranked[] = [];
    for (const { segment, scores, coverage } of this.#plots) {
      const { document, from } = segment.parts.passages;
      for (let passage = 0; passage < from.length;) {
        const here = document[passage] as number;
        let top = -1;
        for (; passage < from.length && document[passage] === here; passage += 1) {
          if ((coverage[passage] as number) < MIN_COVERAGE * whole || scores[passage] === 0) continue;
          if (top < 0 || (scores[passage] as number) > (scores[top] as number)) top = passage;
        }
        if (top >= 0)
          insert(best, { segment, document: here, passage: top, score: (scores[top] as number) / whole }, limit);
      }
    }
    return best;
  }
}

function insert(best: Ranked[], ranked: Ranked, limit: number): void {
  let at = best.length;
  while (at > 0 && comesBefore(ranked, best[at - 1] as Ranked)) at -= 1;
  if (at >= limit) return;
  best.splice(at, 0, ranked);
  best.length = Math.min(best.length, limit);
}

/** Ties are ordered by name, independent of the segment. */
function comesBefore(one: Ranked, other: Ranked): boolean {
  if (one.score !== other.score) return one.score > other.score;
  return nameOf(one) < nameOf(other);
}

function nameOf({ segment, document }: Ranked): string {
  const { source, path } = segment.parts.documents[document] as DocumentEntry;
  return `${source}\n${path}`;
}
