import type { PreferencesChange } from '../conversation/preferences.ts';
import type { UsageChange } from '../conversation/usage-store.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import type { InboundMessage, PlatformName } from '../platforms/platform.ts';

/** A message of the turn, as it waited. */
export interface TurnMessage {
  deliveryId: string;
  acceptedAtMs: number;
  seq: number;
  message: InboundMessage;
}

/** What a turn is given: the claim that the queue room took. The queue's own type has the same shape. */
export interface TurnInput {
  conversation: ConversationRef;
  epoch: number;
  turnId: string;
  messages: TurnMessage[];
  unreadable: string[];
  /** Where an apology goes when none of the messages opens; absent where the platform polls. */
  apologyTarget?: { platform: PlatformName; replyTarget: string };
  /** What an earlier worker decided and stored before it died: see `stored-answer.ts`. */
  storedAnswer?: string;
  stop: { seq: number; ownerId: string; servedSeq: number };
  /** How many messages of the same sender wait for the sign-in. */
  heldCount: number;
  /** Whether it waited in a group for its sender's sign-in. */
  wasHeldInGroup: boolean;
  startedAtMs: number;
  /** How long the newest message had waited when the turn was claimed, and when that was, by `monotonicMs`. */
  newestAgeMs: number;
  claimedAtMs: number;
  wasHandedOver: boolean;
  /** Whether a worker had begun it before: something of its answer may have been shown. */
  wasBegun: boolean;
  history: string[];
  notices: string[];
  /** What the next private replies begin with, as it is kept, oldest first. */
  leftovers: string[];
  /** What the sender chose, sealed, by chat. */
  preferences: Record<string, string>;
  /** The conversation's summary, sealed; anything else is none. */
  summary: string;
  /** How many turns of history are kept; `history` holds the newest of them. */
  historyLength: number;
  /** Whether it may have been answered already, under a history of Redis that a failover has ended. */
  mayBeAnswered: boolean;
  /** If so, what waits behind it: it may have been merged with one of them. */
  behind: TurnMessage[];
}

/** How a turn reaches the fence while it runs; given by the worker. */
export interface TurnControls {
  claim: TurnInput;
  /** Its reason is `stopped` (keep and show what there is), or `fenced`, `shutdown` or `yielded` (show nothing more, throw). */
  signal: AbortSignal;
  /** How much waits behind this turn: with `soft` answers are to be short and use no tools, with `hard` there is none. */
  pressure(): 'none' | 'soft' | 'hard';
  fenced(): void;
  /** Ends the turn as stopped: the person pressed the platform's own button. */
  stopped(): void;
  storeAnswer(text: string): Promise<boolean>;
  /** Seals the full answer as it is stored. */
  sealAnswer(text: string): string;
  /** Whether nobody can have taken this turn over yet, not even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** Has the messages that wait for their sender's sign-in answered first: aborts this turn, if there are any. */
  yieldToHeld(): Promise<void>;
}

/** What a turn leaves to be committed; the queue room writes it in one fenced script. */
export interface TurnResult {
  outcome: 'final' | 'held' | 'dead';
  /** Set where it is held in a group. */
  heldIn?: 'group';
  records: { id: string; fields: string[]; followUp?: string }[];
  history?: { forget?: boolean; replaceLast?: boolean; append?: string; anew?: boolean };
  /** The same turn for the thread that its answer begins; that thread is a conversation of its own. */
  threadHistory?: { conversation: ConversationRef; append: string };
  /** Records to be taken out of lists, keys to be deleted, fields of hashes, and summaries to be cleared. */
  erase?: {
    remove: { list: string; record: string }[];
    drop: string[];
    fields?: { key: string; field: string }[];
    clear?: string[];
  };
  /** The thread in which this was said, and the person's list of them. */
  thread?: { index: string; id: string };
  /** Sealed notices that are done with. */
  noticesShown?: string[];
  preferences?: PreferencesChange;
  usage?: UsageChange;
  stopServed?: number;
}

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
  stands?: TurnResult['records'];
  /** `held`: the reply stays open and the message waits for its sender's sign-in. */
  hold?: boolean;
  history?: TurnResult['history'];
  threadHistory?: TurnResult['threadHistory'];
  erase?: TurnResult['erase'];
  stopServed?: number;
  /** What the person chose from now on. */
  preferences?: PreferencesChange;
  /** What the answer cost. */
  usage?: UsageChange;
  /** The message whose visible answer this one takes the place of (/retry). */
  replaces?: string;
}
