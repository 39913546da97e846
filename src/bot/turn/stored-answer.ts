import type { TurnCommit } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Outcome } from './outcome.ts';

/**
 * A decided outcome as stored before its last post. Contains everything that the commit needs, so that a worker that takes
 * over ends the turn like the first one (SECURITY.md noted-before-posted).
 */
interface StoredAnswer {
  version: 1;
  kind: Outcome['kind'];
  text: string;
  mention?: string;
  note?: string;
  history?: TurnCommit['history'];
  threadHistory?: TurnCommit['threadHistory'];
  erase?: TurnCommit['erase'];
  stopServed?: number;
  preferences?: TurnCommit['preferences'];
  usage?: TurnCommit['usage'];
  budgets?: TurnCommit['budgets'];
  replaces?: DeliveryId;
  model?: string;
  rule?: string;
}

export function formatStoredAnswer(outcome: Outcome): string {
  const { kind, text, mention, note, history, threadHistory, erase, stopServed, preferences, usage } = outcome;
  const { budgets, replaces, model, rule } = outcome;
  const stored: StoredAnswer = {
    version: 1,
    kind,
    text,
    mention,
    note,
    history,
    threadHistory,
    erase,
    stopServed,
    preferences,
    usage,
    budgets,
    replaces,
    model,
    rule,
  };
  return JSON.stringify(stored);
}

/**
 * Reads an outcome stored by an earlier worker. For an unknown version, the text is used, which every version contains: it
 * is the finished answer, which must neither wait nor be requested again (SECURITY.md never-joined).
 */
export function readStoredAnswer(stored: string): Outcome {
  try {
    const { version, ...outcome } = JSON.parse(stored) as Omit<StoredAnswer, 'version'> & { version: number };
    if (version === 1) return outcome;
    if (version > 1 && typeof outcome.text === 'string') return { kind: 'answered', text: outcome.text };
  } catch {
    // Falls through: an older worker stored only the text.
  }
  return { kind: 'answered', text: stored };
}
