import type { Log } from '../shared/log.ts';

/**
 * Events that the service reports: one function per event. They never contain message text, tokens, codes, keys or names of
 * people.
 */
export interface ServiceReport {
  chatAnswered(event: {
    model: string;
    streamed: boolean;
    /** Number of request fields that were not relayed; their names are chosen by the caller and are not logged. */
    droppedFields: number;
    outcome: string;
    durationMs: number;
  }): void;
  /** An auditable step of the sign-in; `step` is one of a small set. */
  signInStep(event: { step: string; clientId?: string; reason?: string }): void;
  /** The keys of the running processes were compared. Reported when the result has changed. */
  keysCompared(sentence: string | undefined): void;
  /** An internal error. */
  failed(where: 'chat' | 'sign-in', error: Error): void;
}

/** Writes the events to the log. */
export function createServiceReport(log: Log): ServiceReport {
  let lastSentence: string | undefined;
  return {
    chatAnswered: (event) => log.debug(event, 'chat request ended'),
    signInStep: (event) => log.info(event, 'sign-in step'),
    keysCompared(sentence) {
      if (sentence === lastSentence) return;
      lastSentence = sentence;
      if (sentence === undefined) log.info('the keys of all service processes match again');
      else log.error(sentence);
    },
    failed: (where, error) => log.error({ where, error }, 'an error occurred in the service'),
  };
}
