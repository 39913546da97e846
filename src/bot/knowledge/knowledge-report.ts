/** Why a source gave no results. `away`: the source or the index is unavailable; `failed`: the response was invalid. */
export type SourceFault = 'away' | 'late' | 'refused' | 'failed';

/** Reason of a file whose type is not read. With every other reason, a document is missing. */
export const NOT_A_DOCUMENT = 'unknown_kind';

export interface SkippedFiles {
  reason: string;
  count: number;
  first: string;
}

/** Events of the knowledge module. Sources are identified by their configured names. */
export interface KnowledgeReport {
  sourceFailed(event: { source: string; fault: SourceFault }): void;
  /** All currently skipped files of a source: `reason` is a code, `first` the path of one of them. */
  documentsLeftOut(event: { source: string; reasons: readonly SkippedFiles[] }): void;
  /** Totals of all local sources. `memoryBytes` is that of the index process. */
  indexed(event: { documents: number; passages: number; textBytes: number; memoryBytes: number }): void;
  /** The index process ended unexpectedly. It is restarted. */
  indexEnded(event: { exitCode: number | null; signal: string | null; afterMs: number }): void;
  /**
   * A crawl of a site ended. With a fault, the counts cover only the part before it. Skipped pages are counted by reason;
   * `first` is an address.
   */
  siteRead(event: {
    source: string;
    fault?: SourceFault;
    /** Currently stored. */
    pages: number;
    fetched: number;
    unchanged: number;
    /** Stored pages that were deleted. */
    gone: number;
    failed: number;
    leftOut: readonly SkippedFiles[];
    durationMs: number;
  }): void;
  searched(event: { sources: number; found: number; durationMs: number }): void;
}
