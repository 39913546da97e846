import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { Platform } from '../platforms/platform.ts';
import type { ReplyView } from '../domain/reply.ts';
import type { TurnClaim, TurnControls } from '../domain/turn.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { MessageFields } from '../domain/message-record.ts';
import type { AfterCare } from './deferred-reconciliation.ts';
import type { ReplyReport } from './reply-report.ts';

/** The last snapshot of one message record, to be written by the commit. */
export interface FinalRecord {
  id: DeliveryId;
  fields: MessageFields;
  /** What is to follow the answer in a message of its own, sealed; `follow-ups/` brings it once the commit is done. */
  followUp?: string;
  /** Whoever shows it over a connection of ours is told that it changed. */
  isTold?: boolean;
}

/** What a finished answer has beside its text, where the platform has a place for it. */
export interface ApartFromText {
  /** Lines about the answer. */
  status?: string;
  /** The model's thought. */
  thinking?: string;
  /** Whom a word of ours in a group calls. */
  mention?: string;
  /** What may be pressed at it. */
  offers?: readonly Offer[];
}

/** `retry`: to have the question answered again. `rate`: to say what one thinks of the answer. */
export type Offer = 'retry' | 'rate';

/** One visible answer while it grows. */
export interface LiveReply {
  /**
   * Looks whether the platform shows the answer whole already, where it can tell: for a turn of which a failover may have lost that it
   * was answered. @param otherTargets where messages are answered with which this one may have been merged
   * @returns the records that the commit writes then; undefined when it is to be answered (still)
   */
  findWhole(otherTargets?: readonly string[]): Promise<FinalRecord[] | undefined>;
  /** The first snapshot is about to come: what can be asked before it is asked now. Returns at once. */
  prepare(): void;
  /** Shows a snapshot soon. Returns at once; a refused write ends the turn through `fenced`. */
  show(view: Omit<ReplyView, 'finished'>): void;
  /**
   * Ends the reply with its final text.
   * @returns the records that the commit writes; with them the answer is visible
   */
  finish(text: string, apart?: ApartFromText): Promise<FinalRecord[]>;
  /**
   * Ends the reply of a question that was deleted: what stands of it is taken away, where the platform lets it be, and nothing is posted
   * for it. Where it cannot be taken away it ends with this text.
   */
  takeAway(text: string): Promise<FinalRecord[]>;
  /** Leaves the reply open with this snapshot, to grow later (a question that waits for its sender's sign-in). */
  leaveOpen(text: string, mention?: string): Promise<FinalRecord[]>;
  /** Writes nothing more and waits for the write under way. */
  close(): Promise<void>;
  /**
   * The turn ends here without its last snapshot: writes nothing more, waits for the write under way and notes where it stands, both
   * for two seconds at most, so that whoever goes on finds it. Called before the turn is given back.
   */
  abandon(): Promise<void>;
}

/** What all replies of a process stand on. */
export interface ReplyDeps {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** For lengths of time; the process's own unless told. */
  monotonicMs?: NowMs;
  log: Log;
  report: ReplyReport;
  /** Looks after an answer once it stands, where a call of an unknown fate may still change something. */
  afterCare: Pick<AfterCare, 'later'>;
}

/** Of the turn's claim: its place and epoch, when its message came, and what became of it before. */
type ReplyClaim = Pick<TurnClaim, 'conversation' | 'epoch' | 'startedAtMs' | 'wasHandedOver' | 'wasBegun'>;

/** Of the turn's controls: what ends it, and how its answer is kept. */
type ReplyControls = Pick<
  TurnControls,
  'signal' | 'fenced' | 'stopped' | 'storeAnswer' | 'sealAnswer' | 'isClaimHeld' | 'waitIdle'
>;

export interface LiveReplyOptions {
  deps: ReplyDeps;
  claim: ReplyClaim;
  controls: ReplyControls;
  platform: Platform;
  /** The message that is answered, and those merged into its turn, which point to it. */
  deliveryId: DeliveryId;
  mergedIds: DeliveryId[];
  laterReplyHandle: string | undefined;
  /** Whom the answer is for, and where they are written to alone; absent where nothing can follow an answer. */
  asker?(): { userId: string; privateChat: ConversationRef };
  /** Where the platform takes the answer; absent where it polls us. */
  replyTarget: string | undefined;
  language: Language;
}
