import type { ConversationRef } from './conversation.ts';
import type { MessageFields } from './message-record.ts';
import type { InboundMessage } from './message.ts';
import type { PlatformName } from './platform-name.ts';
import type { ConversationId, DeliveryId, PersonId } from './ids.ts';

/** One accepted message as a worker gets it. */
export interface WaitingMessage {
  deliveryId: DeliveryId;
  /** When it was accepted, or released after a sign-in; its age decides whether an answer would still be expected. */
  acceptedAtMs: number;
  /** Its place in the conversation's history of acceptance, for the stop mark. */
  seq: number;
  message: InboundMessage;
}

/** Where a platform that we post to takes the answer to a message. */
export interface AnswerTarget {
  platform: PlatformName;
  /** Absent in what was stored before there were several. */
  tenant?: string;
  replyTarget: string;
}

/** A stop that was accepted: a word with its place in the conversation and who said it (a person id), or one message's own. */
export interface StopMark {
  /** 0 where it is meant for one message. */
  seq: number;
  ownerId: PersonId;
  /** The one message that is meant: its answer opens the thread in which the word was said, or has the platform's button. */
  deliveryId?: DeliveryId;
}

/** A turn as its worker took it: the messages to answer, and the epoch that every later write must carry. */
export interface TurnClaim {
  conversation: ConversationRef;
  epoch: number;
  /** The name of this taking; up to its dot the worker's name. */
  claimId: string;
  /** The delivery id of the newest message; the answer belongs to that one. */
  turnId: DeliveryId;
  messages: WaitingMessage[];
  /** Delivery ids of messages that their own key does not open: altered. They can only get an apology. */
  unreadable: DeliveryId[];
  /** Where that apology goes, when none of the turn's messages opens; absent where the platform polls. */
  apologyTarget?: AnswerTarget;
  /** Number of workers that died while this turn ran in them. */
  crashes: number;
  /** The worker whose death was counted by this claim. */
  crashedWorker?: string;
  /** The model's full answer, when an earlier worker stored it before dying: it is never generated twice. */
  storedAnswer?: string;
  /** Whether an answer was stored that does not open: then the model is asked again. */
  isAnswerLost: boolean;
  /** The newest stop word's place and person, and the last stop that ended something. */
  stop: StopMark & { servedSeq: number };
  /** How many messages of the same sender wait for the sign-in. */
  heldCount: number;
  /** Whether it waited in a group for its sender's sign-in. */
  wasHeldInGroup: boolean;
  /** When the message that is answered first came: its live reply's life counts from there. */
  startedAtMs: number;
  /** Whether the live reply has ended already because its time was over; the answer goes the platform's other way. */
  wasHandedOver: boolean;
  /** Sealed turns and notices, oldest first. */
  history: string[];
  notices: string[];
  /** What the next private replies begin with, as it is kept, oldest first. */
  leftovers: string[];
  /** Whether a worker had begun it before: something of its answer may have been shown. */
  wasBegun: boolean;
  /** What the sender chose, sealed, by chat; read with the claim. */
  preferences: Record<string, string>;
  /** Whether one of its messages was stopped by itself: in the thread that its answer opens, or by the platform's button. */
  wasStopped: boolean;
  /** The conversation's summary as it is kept (sealed, or the mark that it was cleared); empty when there is none. */
  summary: string;
  /** How many turns of history are kept; `history` holds the newest of them. */
  historyLength: number;
  /** How long the turn could have begun already when it was claimed, by Redis' clock. Milliseconds. */
  dueForMs: number;
  /** How long the newest message had waited when it was claimed, by Redis' clock. Milliseconds. */
  newestAgeMs: number;
  /** When it was claimed, by `monotonicMs`. */
  claimedAtMs: number;
  /** Whether it may have been answered already, under a history of Redis that a failover has ended. */
  mayBeAnswered: boolean;
  /** If so, what waits behind it and can be read: it may have been merged with one of them, and answered there. */
  behind: WaitingMessage[];
}

/**
 * How much more is asked than the deployment can answer (SECURITY.md back-pressure). `soft`: answers are to be short.
 * `hard`: a question is answered with a busy note.
 */
export type Pressure = 'none' | 'soft' | 'hard';

/**
 * Why a running turn is told to end early. `stopped` keeps and shows what there is; the others show nothing more.
 * `yielded`: it has given its place up to messages that were said before it. `amended`: what it asks has changed, and it begins anew.
 */
export type AbortReason = 'stopped' | 'fenced' | 'shutdown' | 'yielded' | 'amended';

/** What a turn may do while it runs, beside reading its claim. */
export interface TurnControls {
  claim: TurnClaim;
  /** Aborted with an `AbortReason` as its reason. */
  signal: AbortSignal;
  /** How much waits behind this turn. One that had begun before is not to suffer from it: its answer was shown in part. */
  pressure(): Pressure;
  /** Ends the turn as fenced: a write of its own was refused. */
  fenced(): void;
  /** Ends the turn as stopped: the person pressed the platform's own button. */
  stopped(): void;
  /** Stores the full answer before it goes out the last way (SECURITY.md noted-before-posted). @returns false when fenced */
  storeAnswer(text: string): Promise<boolean>;
  /** Seals the full answer as it is stored, for a script that stores it together with something else. */
  sealAnswer(text: string): string;
  /** Whether nobody can have claimed this turn yet, not even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** Waits by `wait`; a worker that ends meanwhile was not ended by this turn (SECURITY.md poison-turns). Rejects only as `wait` does. */
  waitIdle(wait: () => Promise<void>): Promise<void>;
  /** Brings the conversation's held messages back in front of this turn. Where there are any, it ends: they run first. */
  yieldToHeld(): Promise<void>;
}

/** A choice as the commit writes it: into the person's hash, the field of the chat. */
export interface PreferencesChange {
  personId: PersonId;
  field: string;
  sealed: string;
}

/** What the commit of a turn adds to a person's use: fields of one hash, and how much each grows. */
export interface UsageChange {
  key: string;
  add: Record<string, number>;
  lifeMs: number;
}

/** What a turn leaves behind; written by one fenced script. */
export interface TurnCommit {
  /** `final`: answered. `held`: waits for the sender's sign-in. `dead`: given up with an apology. */
  outcome: 'final' | 'held' | 'dead';
  /** Set where it is held in a group: there others may wait too, and a question is not answered later than any other. */
  heldIn?: 'group';
  /**
   * Last snapshots of live replies, by delivery id: field names and values of the message record; and what is to follow an answer
   * in a message of its own, sealed; and whether somebody is told of it who shows it over a connection of ours.
   */
  records: { id: DeliveryId; fields: MessageFields; followUp?: string; isTold?: boolean }[];
  /** `anew`: the conversation begins with this turn, and nothing of before is summed up any more. */
  history?: { forget?: boolean; replaceLast?: boolean; append?: string; anew?: boolean };
  /** The same turn for the thread that its answer begins; it lies in the same partition. */
  threadHistory?: { conversation: ConversationRef; append: string };
  /** Records to be taken out of lists, keys and fields of hashes to be deleted, summaries to be cleared (/forget); all lie in the same partition. */
  erase?: {
    remove: { list: string; record: string }[];
    drop: string[];
    fields?: { key: string; field: string }[];
    clear?: string[];
  };
  /** The thread in which this was said, and the person's list of them. */
  thread?: { index: string; id: ConversationId };
  /** The thread in which the answer stands, where it may go on without naming the bot. */
  followed?: ConversationRef;
  /** Sealed notices that are done with. */
  noticesShown?: string[];
  /** What the sender chose from now on in a chat. */
  preferences?: PreferencesChange;
  /** What the person used: fields of a hash in the conversation's partition, and how much each grows. */
  usage?: UsageChange;
  /** The sequence of the stop word that ended this turn early. */
  stopServed?: number;
}
