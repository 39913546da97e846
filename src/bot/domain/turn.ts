import type { ConversationRef } from './conversation.ts';
import type { MessageFields } from './message-record.ts';
import type { InboundMessage } from './message.ts';
import type { PlatformName } from './platform-name.ts';
import type { TurnTrace } from './turn-trace.ts';
import type { ConversationId, DeliveryId, PersonId } from './ids.ts';

/** An accepted message as a worker gets it. */
export interface WaitingMessage {
  deliveryId: DeliveryId;
  /** When it was accepted, or released after a sign-in. Its age decides whether an answer is still expected. */
  acceptedAtMs: number;
  /** Its sequence number in the conversation, for the stop mark. */
  seq: number;
  message: InboundMessage;
}

/** Where to post the answer to a message. */
export interface AnswerTarget {
  platform: PlatformName;
  /** Absent in records from before several tenants were supported. */
  tenant?: string;
  replyTarget: string;
}

/** An accepted stop: a stop command with its sequence number and sender (a person id), or the stop of a single message. */
export interface StopMark {
  /** 0 if the stop applies to a single message. */
  seq: number;
  ownerId: PersonId;
  /** The single message to stop: its answer opens the thread of the stop command, or has the platform's button. */
  deliveryId?: DeliveryId;
}

/** A turn as its worker claimed it: the messages to answer, and the epoch that every later write must carry. */
export interface TurnClaim {
  conversation: ConversationRef;
  epoch: number;
  /** Name of this claim; the part before the dot is the worker's name. */
  claimId: string;
  /** Delivery id of the newest message, to which the answer belongs. */
  turnId: DeliveryId;
  messages: WaitingMessage[];
  /** Delivery ids of messages that cannot be decrypted with their own key: they were altered and can only get an apology. */
  unreadable: DeliveryId[];
  /** Where to post that apology if none of the turn's messages can be decrypted. Undefined if the platform polls. */
  apologyTarget?: AnswerTarget;
  /** Number of workers that died while this turn ran in them. */
  crashes: number;
  /** The worker whose death this claim counted. */
  crashedWorker?: string;
  /** The model's full answer, if an earlier worker stored it before it died. It is never generated twice. */
  storedAnswer?: string;
  /** Whether a stored answer cannot be decrypted, so that the model is asked again. */
  isAnswerLost: boolean;
  /** The newest stop with its sender, and the last stop that ended an answer. */
  stop: StopMark & { servedSeq: number };
  /** Number of the same sender's messages that wait for sign-in. */
  heldCount: number;
  /** Whether the turn waited in a group for its sender's sign-in. */
  wasHeldInGroup: boolean;
  /** When the answered message was first accepted. The life of its live reply counts from there. */
  startedAtMs: number;
  /** Whether the live reply has already ended because its time was over. The answer takes the platform's other way. */
  wasHandedOver: boolean;
  /** Encrypted turns and notices, oldest first. */
  history: string[];
  notices: string[];
  /** Stored texts for the start of the next private replies, oldest first. */
  leftovers: string[];
  /** Whether the turn was begun before, so that part of its answer may have been shown. */
  wasBegun: boolean;
  /** The sender's preferences, encrypted, by chat. Read with the claim. */
  preferences: Record<string, string>;
  /**
   * Whether one of its messages was stopped individually: in the thread that its answer opens, or with the platform's
   * button.
   */
  wasStopped: boolean;
  /** The conversation's summary as stored (encrypted, or the mark of a cleared one). Empty if there is none. */
  summary: string;
  /** Number of stored turns of history. `history` contains the newest of them. */
  historyLength: number;
  /** How long the turn had been due when it was claimed, by the Redis clock. Milliseconds. */
  dueForMs: number;
  /** How long the newest message had waited when the turn was claimed, by the Redis clock. Milliseconds. */
  newestAgeMs: number;
  /** The part of `newestAgeMs` that counts against the age limit: without the wait behind an isolated turn. Milliseconds. */
  chargedAgeMs: number;
  /** What this worker does for the turn. */
  trace: TurnTrace;
  /** When the turn was claimed, by `monotonicMs`. */
  claimedAtMs: number;
  /** Whether the turn may have been answered already, under a Redis history that a failover has ended. */
  mayBeAnswered: boolean;
  /** In that case, the readable messages behind it: the turn may have been merged with one of them and answered there. */
  behind: WaitingMessage[];
}

/**
 * How far the load exceeds the deployment's capacity (SECURITY.md back-pressure). `soft`: answers must be short. `hard`:
 * questions get a busy notice.
 */
export type Pressure = 'none' | 'soft' | 'hard';

/**
 * Why a running turn must end early. `stopped` keeps and shows the partial answer; the others show nothing more. `yielded`:
 * it has given up its place to messages that were sent before it. `amended`: its question has changed, and it restarts.
 */
export type AbortReason = 'stopped' | 'fenced' | 'shutdown' | 'yielded' | 'amended';

/** What a turn can do while it runs, besides reading its claim. */
export interface TurnControls {
  claim: TurnClaim;
  /** Aborted with an `AbortReason` as its reason. */
  signal: AbortSignal;
  /** Load behind this turn. Always `none` for a turn that was begun before, because part of its answer was shown. */
  pressure(): Pressure;
  /** Ends the turn as fenced, because one of its writes was refused. */
  fenced(): void;
  /** Ends the turn as stopped, because the person pressed the platform's button. */
  stopped(): void;
  /**
   * Stores the full answer before the last edit of its post (SECURITY.md noted-before-posted). @returns false when fenced
   */
  storeAnswer(text: string): Promise<boolean>;
  /** Encrypts the full answer as it is stored, for a script that stores it together with other data. */
  sealAnswer(text: string): string;
  /** Whether no other worker can have claimed this turn yet, even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /**
   * For a step that must not be taken by a worker that was replaced. @returns undefined while the claim is surely held; otherwise
   * settles, without an error, once Redis has confirmed the claim or the turn is aborted
   */
  confirmClaim(): Promise<void> | undefined;
  /**
   * Waits with `wait`. A worker that dies meanwhile is not charged to this turn (SECURITY.md poison-turns). Rejects only if
   * `wait` does.
   */
  waitIdle(wait: () => Promise<void>): Promise<void>;
  /** Releases the sender's held messages in front of this turn. If there are any, the turn ends and they run first. */
  yieldToHeld(): Promise<void>;
}

/** A preference as the commit writes it: into the person's hash, in the chat's field. */
export interface PreferencesChange {
  personId: PersonId;
  field: string;
  sealed: string;
}

/** Usage that the commit of a turn adds: fields of one hash and their increments. */
export interface UsageChange {
  key: string;
  add: Record<string, number>;
  lifeMs: number;
}

/** Why a question counts as unanswered, as the turn knows it. `no-source`: its documents were searched, and it cites none. */
export type UnansweredReason = 'no-source' | 'refused';

/** A question that the commit adds to its person's unanswered questions. */
export interface UnansweredChange {
  key: string;
  entry: string;
  lifeMs: number;
}

/** What a turn used of one budget. It replaces the turn's reservation. */
export interface BudgetCharge {
  /** Keys of the budget (`budgetKeys`). */
  used: string;
  reserved: string;
  charged: string;
  /** `DD`, for a turn without a reservation. */
  day: string;
  questions: number;
  tokens: number;
  images: number;
  /** Life of what is used, and of the record of this turn. */
  lifeMs: number;
  chargedMs: number;
}

/** Everything that a turn writes at its end, in one fenced script. */
export interface TurnCommit {
  /** `final`: answered. `held`: waits for the sender's sign-in. `dead`: given up. */
  outcome: 'final' | 'held' | 'dead';
  /** Set if it is held in a group: others may wait there too, and a question expires there like any other. */
  heldIn?: 'group';
  /**
   * Last snapshots of live replies, by delivery id: fields of the message record, an encrypted follow-up message, and
   * whether the change is announced to a process that shows the reply over a connection.
   */
  records: { id: DeliveryId; fields: MessageFields; followUp?: string; isNotified?: boolean }[];
  /** `startsConversation`: the conversation begins with this turn, and earlier turns are no longer summarised. */
  history?: { forget?: boolean; replaceLast?: boolean; append?: string; startsConversation?: boolean };
  /** The same turn for the thread that its answer begins, in the same partition. */
  threadHistory?: { conversation: ConversationRef; append: string };
  /**
   * Records to remove from lists, keys and hash fields to delete, summaries to clear (/forget), all in the same partition.
   */
  erase?: {
    remove: { list: string; record: string }[];
    drop: string[];
    fields?: { key: string; field: string }[];
    clear?: string[];
  };
  /** The thread of the message, and the person's list of threads. */
  thread?: { index: string; id: ConversationId };
  /** The thread of the answer, if it may continue without naming the bot. */
  followed?: ConversationRef;
  /** Encrypted notices that were shown. */
  noticesShown?: string[];
  /** The sender's new preference for a chat. */
  preferences?: PreferencesChange;
  /** The person's usage: fields of a hash in the conversation's partition and their increments. */
  usage?: UsageChange;
  unanswered?: UnansweredChange;
  /** Budgets in which the turn has a reservation. */
  budgets?: readonly BudgetCharge[];
  /** Sequence number of the stop that ended this turn early. */
  stopServed?: number;
  /** Encrypted entries for the audit record, stored in the same step. */
  audit?: string[];
}
