import type { Reader, Readers } from '../readers.ts';

/** Documents on this machine. */
export interface LocalSource {
  /** `pages`: what was fetched of a site, as `site/kept-page.ts` writes it. */
  kind: 'folder' | 'pages';
  name: string;
  readers: Readers;
  /** Absolute. */
  folder: string;
  /** Where documents are to be read; their path is added to it. */
  url?: string;
}

/** A document that fits, as the index tells it. */
export interface LocalHit {
  source: string;
  path: string;
  title: string;
  /** By what it was judged; judged once more by whoever asked. */
  readers: Readers;
  place: string;
  text: string;
  url?: string;
  date?: string;
  score: number;
}

export interface LocalQuery {
  query: string;
  reader: Reader;
  /** Names of sources. */
  sources: readonly string[];
  most: number;
}

/** The documents on this machine, wherever their index runs. */
export interface LocalIndex {
  /** From now on these are the sources, and no others. */
  use(sources: readonly LocalSource[]): void;
  /** @throws when the index is away */
  search(query: LocalQuery, signal: AbortSignal): Promise<LocalHit[]>;
  close(): Promise<void>;
}
