/** The result of checking a source. Contains no key and no document content. */
export interface SourceFinding {
  verdict: 'ok' | 'warning' | 'fault';
  detail: string;
  /** What the administrator should do. */
  nextStep?: string;
}

/**
 * Checks a configured source live. Each kind of source implements this in its own file.
 * @param signal aborts the check at its time limit
 * @throws only the signal's reason; failures of the source are findings
 */
export type CheckSource<Definition> = (definition: Definition, signal: AbortSignal) => Promise<SourceFinding>;
