/** Why a source gave nothing. `away`: it, or what asks it, is not there; `failed`: it answered what makes no sense. */
export type SourceFault = 'away' | 'late' | 'refused' | 'failed';

export interface LeftOutFiles {
  reason: string;
  count: number;
  first: string;
}

/** What the knowledge room tells about itself; sources are named as the administrator named them. */
export interface KnowledgeReport {
  /** A source was left out of a search. */
  sourceFailed(event: { source: string; fault: SourceFault }): void;
  /** Which files of a source are no documents, all that there are at present: `reason` is a code, `first` the path of one of them. */
  documentsLeftOut(event: { source: string; reasons: readonly LeftOutFiles[] }): void;
  /** What is indexed of all local sources now; `memoryBytes` is the index's process. */
  indexed(event: { documents: number; passages: number; textBytes: number; memoryBytes: number }): void;
  /** The index's process ended by itself; another one follows. */
  indexEnded(event: { exitCode: number | null; signal: string | null; afterMs: number }): void;
  /** A site's pages were looked at; with a fault, only as far as it says. What is left out is told by reason, `first` an address. */
  siteRead(event: {
    source: string;
    fault?: SourceFault;
    /** That are kept now. */
    pages: number;
    fetched: number;
    unchanged: number;
    /** That were kept before. */
    gone: number;
    failed: number;
    leftOut: readonly LeftOutFiles[];
    durationMs: number;
  }): void;
  searched(event: { sources: number; found: number; durationMs: number }): void;
}
