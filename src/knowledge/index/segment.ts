import type { Readers } from '../readers.ts';
import { eachPosting } from './postings.ts';
import type { Term } from './terms.ts';

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
  firstPassage: number;
  passages: number;
  /** Terms of all of its passages. */
  terms: number;
  /** Where its text stands in the segment's. Bytes. */
  textFrom: number;
  textTo: number;
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

  /** Calls for each passage in which a term stands, those of deleted documents among them. */
  eachPosting(term: Term, take: (passage: number, count: number) => void): void {
    const { terms, starts, postings } = this.parts;
    let low = 0;
    let high = terms.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const here = terms[middle] as number;
      if (here === term) {
        eachPosting(postings, starts[middle] as number, starts[middle + 1] as number, take);
        return;
      }
      if (here < term) low = middle + 1;
      else high = middle - 1;
    }
  }
}
