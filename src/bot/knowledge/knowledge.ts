import type { Reader } from './readers.ts';

export type { Reader } from './readers.ts';

/** A part of a document that fits a question. All of its texts were written by others, and are untrusted. */
export interface Found {
  /** The same for the same document in every search; says nothing to people. */
  documentId: string;
  /** The source's name in `KNOWLEDGE_FILE`. */
  source: string;
  title: string;
  /** Where in the document: headings, a page or a sheet. */
  place?: string;
  /** What fits best, with some room around it; about 2,000 characters at most. */
  text: string;
  /** Where the document is to be read. */
  url?: string;
  /** The day to which it goes back, `YYYY-MM-DD`. */
  date?: string;
  /** How well it fits, from 0 to 1; comparable within one source only. */
  score: number;
}

/** What the institution's documents say, by the sources of `KNOWLEDGE_FILE` as they stood when this was made. */
export interface Knowledge {
  /** Whether there is anything that could be asked. */
  readonly hasSources: boolean;
  /**
   * Finds what fits a question among what this reader may read there; nothing else is ever looked at for the result. A source that
   * fails or is late is left out.
   * @param query may be written by the model, and is the only thing that may
   * @param only names of the sources that count; all unless told
   * @returns the best first, of each document one; at most 8
   * @throws the signal's reason, nothing else
   */
  search(query: string, reader: Reader, signal: AbortSignal, only?: readonly string[]): Promise<Found[]>;
}
