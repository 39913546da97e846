import type { BudgetCharge, PreferencesChange, TurnCommit, UsageChange } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { HistoryTurn } from './conversation/history.ts';
import type { AdmittedContext } from './turn-context.ts';

/** Result of a turn, before it is delivered to the person. */
export interface Outcome {
  /** Used as a metric label. */
  kind:
    | ('answered' | 'interrupted' | 'stopped' | 'command' | 'sign-in' | 'refused' | 'failed' | 'expired' | 'busy')
    | 'paused';
  text: string;
  /** User id of the person to mention in a group. */
  mention?: string;
  /** Note about the answer, shown separately from its text. */
  note?: string;
  /** Metadata that begins a file with the text, if the text contains answers of models but is none. */
  fileHeader?: string;
  /** The model's reasoning, shown separately from the text. Not stored in the history or in a stored answer. */
  thinking?: string;
  /** The answer is already posted, with these records. Nothing is shown, and its text is unknown. */
  postedRecords?: TurnCommit['records'];
  /** The reply stays open and the message waits for its sender's sign-in. */
  hold?: boolean;
  history?: TurnCommit['history'];
  /** The turn that `history` appends, unsealed; never stored. */
  said?: HistoryTurn;
  threadHistory?: TurnCommit['threadHistory'];
  erase?: TurnCommit['erase'];
  stopServed?: number;
  /** The person's new preferences. */
  preferences?: PreferencesChange;
  /** The model that answered and the policy rule that allowed it, for ratings of the answer. */
  model?: string;
  rule?: string;
  /** Set if the answer cites none of the documents that were searched for it. */
  unanswered?: 'no-source';
  /** Usage of the answer. */
  usage?: UsageChange;
  /** Budgets that the commit settles. */
  budgets?: readonly BudgetCharge[];
  /** The message whose visible answer this one replaces (/retry). */
  replaces?: DeliveryId;
}

/** Answers a question that the sign-in gate has admitted. */
export type AnswerQuestion = (context: AdmittedContext) => Promise<Outcome>;
