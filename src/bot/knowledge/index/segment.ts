import type { Readers } from '../readers.ts';
import { collectPostings, type CollectedPostings } from './postings.ts';
import { rangeOf, type Term } from '../../../shared/text/search-terms.ts';

/** An indexed document. */
export interface DocumentEntry {
  source: string;
  /** Unique within the source. */
  path: string;
  title: string;
  /** From the document's front matter; absent if the source's `readers` apply. */
  readers?: Readers;
  url?: string;
  /** `YYYY-MM-DD` */
  date?: string;
  /** Changes whenever the document may have changed. */
  stamp: string;
  /** Reason code if the document has no text. Stored so that it is not read again until it changes. */
  refused?: string;
  firstPassage: number;
  passages: number;
  /** Total terms in all passages. */
  terms: number;
  /** Byte offset in the segment's text. */
  textFrom: number;
  textTo: number;
}

/** A passage to be added to the index. */
export interface DocumentPiece {
  /** Text between this passage and the previous one. */
  gap: string;
  text: string;
  context: string;
}

/** The passages of a segment as parallel arrays. */
export interface PassageTable {
  document: Uint32Array;
  /** Byte offset in the segment's text. */
  from: Uint32Array;
  to: Uint32Array;
  /** Number of terms, for length normalization. */
  length: Uint32Array;
  context: Uint32Array;
}

/** The concatenated text of all documents, as UTF-8. */
export interface SegmentText {
  readonly sizeBytes: number;
  /** @throws if it can no longer be read */
  read(from: number, to: number): Buffer;
  close(): void;
}

export interface SegmentParts {
  documents: readonly DocumentEntry[];
  passages: PassageTable;
  contexts: readonly string[];
  /** Ascending. `starts` has one more entry. */
  terms: Float64Array;
  starts: Uint32Array;
  postings: Uint8Array;
  text: SegmentText;
}

/** An immutable index of some documents, except for deletions. */
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

  /** Text bytes of documents that are not deleted. */
  get liveBytes(): number {
    return this.#liveBytes;
  }

  isDeleted(document: number): boolean {
    return this.#isDeleted[document] === 1;
  }

  /** @returns the indexes of deleted documents, ascending */
  deleted(): number[] {
    return [...this.#isDeleted.keys()].filter((document) => this.isDeleted(document));
  }

  delete(document: number): void {
    const entry = this.parts.documents[document];
    if (!entry || this.isDeleted(document)) return;
    this.#isDeleted[document] = 1;
    this.#liveBytes -= entry.textTo - entry.textFrom;
  }

  /** The passages of a document, as added. @throws if the text cannot be read */
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
   * Collects the passages that contain any of the terms, with the count of the most frequent one.
   * @param isReadable by document
   * @param begin first free index
   * @returns the next free index
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
    // A passage may contain several of the terms.
    const highest = new Uint32Array(this.passages);
    const each = { passages: new Uint32Array(this.passages), counts: new Uint32Array(this.passages) };
    for (const { first, end } of found) {
      const sums = new Uint32Array(this.passages);
      for (let place = first; place < end; place += 1) {
        const last = collectAt(place, each, 0);
        for (let at = 0; at < last; at += 1) sums[each.passages[at] as number]! += each.counts[at] as number;
      }
      for (const [passage, sum] of sums.entries()) if (sum > (highest[passage] as number)) highest[passage] = sum;
    }
    let next = begin;
    for (const [passage, count] of highest.entries()) {
      if (count === 0) continue;
      collected.passages[next] = passage;
      collected.counts[next] = count;
      next += 1;
    }
    return next;
  }

  /** The index of the first term not less than the given one. */
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
