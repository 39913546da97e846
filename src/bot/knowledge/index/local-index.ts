import type { Reader, Readers } from '../readers.ts';

/** A source of local documents. */
export interface LocalSource {
  /** `pages`: the fetched pages of a site, as written by `site/kept-page.ts`. */
  kind: 'folder' | 'pages';
  name: string;
  readers: Readers;
  /** Absolute path. */
  folder: string;
  /** Base URL of the documents. The document's path is appended. */
  url?: string;
}

/** A matching document. */
export interface LocalHit {
  source: string;
  path: string;
  title: string;
  /** The readers by which the index filtered. The caller checks them again. */
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
  /** Source names. */
  sources: readonly string[];
  limit: number;
}

/** The index of local documents, in this or another process. */
export interface LocalIndex {
  /** Replaces all sources. */
  use(sources: readonly LocalSource[]): void;
  /** @throws if the index is unavailable */
  search(query: LocalQuery, signal: AbortSignal): Promise<LocalHit[]>;
  close(): Promise<void>;
}
