import type { Readers } from '../readers.ts';
import { collectPostings, type CollectedPostings } from './postings.ts';
import { rangeOf, type Term } from '../../../shared/text/search-terms.ts';

/** A document as the index keeps it. */
export interface DocumentEntry {
  source: string;
  /** Within its source; with it the document's name. */
  path: string;
  title: string;
  /** What it says itself; absent where its source's readers are its own. */
  readers?: Readers;
  url?: string;
  /** `YYYY-MM-DD` */
  date?: string;
  /** Another one means that the document may have changed. */
  stamp: string;
  /** Why it has no text, so that it is not read again before it changes. */
  refused?: string;
  firstPassage: number;
  passages: number;
  /** Terms of all of its passages. */
  terms: number;
  /** Where its text stands in the segment's. Bytes. */
  textFrom: number;
  textTo: number;
}

/** A passage on its way into the index. */
export interface DocumentPiece {
  /** What stands between it and the one before. */
  gap: string;
  text: string;
  context: string;
}

/** The passages of a segment, one place each in all lists. */
export interface PassageTable {
  document: Uint32Array;
  /** Bytes of the segment's text. */
  from: Uint32Array;
  to: Uint32Array;
  /** How many terms, by which long ones count no more than short ones. */
  length: Uint32Array;
  context: Uint32Array;
}

/** All documents' text, one behind the other, as UTF-8. */
export interface SegmentText {
  readonly sizeBytes: number;
  /** @throws when it cannot be read any more */
  read(from: number, to: number): Buffer;
  close(): void;
}

export interface SegmentParts {
  documents: readonly DocumentEntry[];
  passages: PassageTable;
  contexts: readonly string[];
  /** Rising; `starts` has one more. */
  terms: Float64Array;
  starts: Uint32Array;
  postings: Uint8Array;
  text: SegmentText;
}

/** Some documents' index. It never changes but by what is deleted. */
export class Segment {
  readonly parts: SegmentParts;
  readonly #isDeleted: Uint8Array;
  #liveBytes: number;

  constructor(parts: SegmentParts, deleted: Iterable<number> = []) {
    this.parts = parts;
    this.#isDeleted = new Uint8Array(parts.documents.length);
    this.#liveBytes = parts.documents.reduce((sum, { textFrom, textTo }) => sum + textTo - textFrom, 0);
    for (const document of deleted) this.delete(document);
  }

  get passages(): number {
    return this.parts.passages.document.length;
  }

  /** Of the text of documents that are not deleted. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  isDeleted(document: number): boolean {
    return this.#isDeleted[document] === 1;
  }

  /** @returns the numbers of deleted documents, rising */
  deleted(): number[] {
    return [...this.#isDeleted.keys()].filter((document) => this.isDeleted(document));
  }

  delete(document: number): void {
    const entry = this.parts.documents[document];
    if (!entry || this.isDeleted(document)) return;
    this.#isDeleted[document] = 1;
    this.#liveBytes -= entry.textTo - entry.textFrom;
  }

  /** A document's passages as they were added. @throws when the text cannot be read */
  *pieces(document: number): Generator<DocumentPiece> {
    const { documents, passages, contexts, text } = this.parts;
    const { firstPassage, passages: count, textFrom, textTo } = documents[document] as DocumentEntry;
    const bytes = text.read(textFrom, textTo);
    const slice = (from: number, to: number) => bytes.toString('utf8', from - textFrom, to - textFrom);
    let written = textFrom;
    for (let passage = firstPassage; passage < firstPassage + count; passage += 1) {
      const from = passages.from[passage] as number;
      const to = passages.to[passage] as number;
      const context = contexts[passages.context[passage] as number] ?? '';
      yield { gap: slice(written, from), text: slice(from, to), context };
      written = to;
    }
  }

  /**
   * Collects the passages in which any of a word's terms stands, with the count of the most frequent one. @param isReadable by document
   * @param begin the first free place @returns the next free place
   */
  collect(anyOf: readonly Term[], isReadable: Uint8Array, collected: CollectedPostings, begin: number): number {
    const { starts, postings, passages } = this.parts;
    const counted = { document: passages.document, counts: isReadable };
    const collectAt = (place: number, into: CollectedPostings, from: number) =>
      collectPostings(
        postings,
        { from: starts[place] as number, to: starts[place + 1] as number },
        counted,
        into,
        from,
      );
    const placesOf = (term: Term) => {
      const [from, below] = rangeOf(term);
      return { first: this.#placeOf(from), end: this.#placeOf(below) };
    };
    const found = anyOf.map(placesOf).filter(({ first, end }) => first < end);
    const [only] = found;
    if (!only) return begin;
    if (found.length === 1 && only.end === only.first + 1) return collectAt(only.first, collected, begin);
    // A passage may have several of the terms.
    const most = new Uint32Array(this.passages);
    const each = { passages: new Uint32Array(this.passages), counts: new Uint32Array(this.passages) };
    for (const { first, end } of found) {
      const sums = new Uint32Array(this.passages);
      for (let place = first; place < end; place += 1) {
        const last = collectAt(place, each, 0);
        for (let at = 0; at < last; at += 1) sums[each.passages[at] as number]! += each.counts[at] as number;
      }
      for (const [passage, sum] of sums.entries()) if (sum > (most[passage] as number)) most[passage] = sum;
    }
    let next = begin;
    for (const [passage, count] of most.entries()) {
      if (count === 0) continue;
      collected.passages[next] = passage;
      collected.counts[next] = count;
      next += 1;
    }
    return next;
  }

  /** The place of the first term that is not below a given one. */
  #placeOf(term: Term): number {
    const { terms } = this.parts;
    let low = 0;
    let high = terms.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((terms[middle] as number) < term) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
