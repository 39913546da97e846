import type { Reader } from './readers.ts';

export type { Reader } from './readers.ts';

/** An excerpt of a document that matches a question. All texts are third-party content and untrusted. */
export interface Found {
  /** Stable across searches. Not for display. */
  documentId: string;
  /** Name of the source in `KNOWLEDGE_FILE`. */
  source: string;
  title: string;
  /** Place in the document: headings, a page or a sheet. */
  place?: string;
  /** The best passage with some context. At most about 2,000 characters. */
  text: string;
  /** Link to the document. */
  url?: string;
  /** Date of the document, `YYYY-MM-DD`. */
  date?: string;
  /** Relevance between 0 and 1. Comparable only within one source. */
  score: number;
}

/** A search over the sources that `KNOWLEDGE_FILE` listed when this object was created. */
export interface Knowledge {
  readonly hasSources: boolean;
  /**
   * Searches the documents that this reader may read. Other documents have no influence on the result. A source that fails
   * or times out is left out.
   * @param query may be written by the model; the other parameters must not be
   * @param only names of the sources to search; defaults to all
   * @returns the best passages first, one per document, at most 8
   * @throws the signal's reason only
   */
  search(query: string, reader: Reader, signal: AbortSignal, only?: readonly string[]): Promise<Found[]>;
}
