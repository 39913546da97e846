import type { Log } from '../shared/log.ts';

/** What the service tells about itself: one function an event. Neither text, tokens, codes, keys nor names of people go in. */
export interface ServiceReport {
  chatAnswered(event: {
    model: string;
    streamed: boolean;
    /** How many fields of the request were not relayed; their names are the caller's own words. */
    droppedFields: number;
    outcome: string;
    durationMs: number;
  }): void;
  /** A step of the sign-in half worth an auditor's line; `step` is from a small set. */
  signInStep(event: { step: string; clientId?: string; reason?: string }): void;
  /** A fault that is ours. */
  failed(where: 'chat' | 'sign-in', error: Error): void;
}

/** Writes the events to the log. */
export function createServiceReport(log: Log): ServiceReport {
  return {
    chatAnswered: (event) => log.debug(event, 'chat request ended'),
    signInStep: (event) => log.info(event, 'sign-in step'),
    failed: (where, error) => log.error({ where, error }, 'the service met a fault'),
  };
}
