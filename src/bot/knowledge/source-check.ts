/** What a try of a source found; never a key, nor anything of a document. */
export interface SourceFinding {
  verdict: 'ok' | 'warning' | 'fault';
  detail: string;
  /** What an administrator does about it. */
  nextStep?: string;
}

/**
 * Tries a source as it is described, live, and says whether it works. Each kind brings its own, in a file of its own.
 * @param signal ends it: then its time was over @throws the signal's reason, and nothing for what the source does
 */
export type CheckSource<Definition> = (definition: Definition, signal: AbortSignal) => Promise<SourceFinding>;
