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

/** The last snapshot of one message record, written by the commit. */
export interface FinalRecord {
  id: DeliveryId;
  fields: MessageFields;
  /** Sealed follow-up message of the answer; `follow-ups/` delivers it after the commit. */
  followUp?: string;
  /** The process that holds the platform's connection is notified of the change. */
  isTold?: boolean;
}

/** Parts of a finished answer that are shown apart from its text, where the platform has a place for them. */
export interface ApartFromText {
  /** Lines about the answer. */
  status?: string;
  /** The model's reasoning. */
  thinking?: string;
  /** The person to mention when a bot text addresses them in a group. */
  mention?: string;
  /** Buttons shown on the answer. */
  offers?: readonly Offer[];
}

/** `retry`: answer the question again. `rate`: rate the answer. */
export type Offer = 'retry' | 'rate';

/** One visible answer while it grows. */
export interface LiveReply {
  /**
   * Checks whether the platform already shows the complete answer, where it can tell. Used for a turn whose answered
   * state a failover may have lost.
   * @param otherTargets reply targets of messages with which this one may have been merged
   * @returns the records for the commit; undefined if the question is still to be answered
   */
  findWhole(otherTargets?: readonly string[]): Promise<FinalRecord[] | undefined>;
  /** Called shortly before the first snapshot, to run checks in advance. Returns at once. */
  prepare(): void;
  /** Schedules a snapshot. Returns at once; a refused write ends the turn through `fenced`. */
  show(view: Omit<ReplyView, 'finished'>): void;
  /** Ends the reply with its final text. @returns the records that the commit writes; with them the answer is visible */
  finish(text: string, apart?: ApartFromText): Promise<FinalRecord[]>;
  /**
   * Ends the reply of a deleted question: removes the visible answer where the platform allows it, and posts nothing
   * new. An answer that cannot be removed ends with this text.
   */
  takeAway(text: string): Promise<FinalRecord[]>;
  /** Leaves the reply open with this snapshot, to grow later (a question that waits for its sender's sign-in). */
  leaveOpen(text: string, mention?: string): Promise<FinalRecord[]>;
  /** Stops writing and waits for the write under way. */
  close(): Promise<void>;
  /**
   * Ends the turn here without a last snapshot: stops writing, waits for the write under way and records the
   * message's handle, both for at most 2 s, so that the next worker finds it. Called before the turn is given back.
   */
  abandon(): Promise<void>;
}

/** Dependencies shared by all replies of a process. */
export interface ReplyDeps {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Monotonic clock for durations. Defaults to the process's clock. */
  monotonicMs?: NowMs;
  log: Log;
  report: ReplyReport;
  /** Schedules checks of a delivered answer that an uncertain call may still change. */
  afterCare: Pick<AfterCare, 'later'>;
}

/** Parts of the turn's claim: conversation and epoch, arrival time of the message, and earlier progress. */
type ReplyClaim = Pick<TurnClaim, 'conversation' | 'epoch' | 'startedAtMs' | 'wasHandedOver' | 'wasBegun'>;

/** Parts of the turn's controls: how it ends, and how its answer is stored. */
type ReplyControls = Pick<
  TurnControls,
  'signal' | 'fenced' | 'stopped' | 'storeAnswer' | 'sealAnswer' | 'isClaimHeld' | 'waitIdle'
>;

export interface LiveReplyOptions {
  deps: ReplyDeps;
  claim: ReplyClaim;
  controls: ReplyControls;
  platform: Platform;
  /** The answered message, and the messages merged into its turn, which point to it. */
  deliveryId: DeliveryId;
  mergedIds: DeliveryId[];
  laterReplyHandle: string | undefined;
  /** The asker and their private conversation; absent where no follow-up is possible. */
  asker?(): { userId: string; privateChat: ConversationRef };
  /** Where the platform takes the answer; absent where the platform polls us. */
  replyTarget: string | undefined;
  language: Language;
}
