import type { PreferencesChange, TurnCommit, UsageChange } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { AdmittedContext } from './turn-context.ts';

/** What the person gets to see at the end of a turn, before it is delivered. */
export interface Outcome {
  /** For the report: a small set. */
  kind: 'answered' | 'interrupted' | 'stopped' | 'command' | 'sign-in' | 'refused' | 'failed' | 'expired' | 'busy';
  text: string;
  /** Whom it calls among others, by the user id. */
  mention?: string;
  /** A line about the answer that is shown apart from its text. */
  note?: string;
  /** The model's thought, shown apart from the text. It is kept nowhere else: not in the history, not in a stored answer. */
  thinking?: string;
  /** The answer stands already, with these records: nothing is shown, and what it would have said is not known. */
  stands?: TurnCommit['records'];
  /** `held`: the reply stays open and the message waits for its sender's sign-in. */
  hold?: boolean;
  history?: TurnCommit['history'];
  threadHistory?: TurnCommit['threadHistory'];
  erase?: TurnCommit['erase'];
  stopServed?: number;
  /** What the person chose from now on. */
  preferences?: PreferencesChange;
  /** The model that answered, and the policy's rule that allowed it: for what people say of the answer. */
  model?: string;
  rule?: string;
  /** What the answer cost. */
  usage?: UsageChange;
  /** The message whose visible answer this one takes the place of (/retry). */
  replaces?: DeliveryId;
}

/** Answers a question that the sign-in gate has admitted. */
export type AnswerQuestion = (context: AdmittedContext) => Promise<Outcome>;
