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
import type { DeferredReconciliation } from './deferred-reconciliation.ts';
import type { ReplyReport } from './reply-report.ts';

/** The final snapshot of one message record, written by the commit. */
export interface FinalRecord {
  id: DeliveryId;
  fields: MessageFields;
  /** Sealed follow-up message of the answer; `follow-ups/` delivers it after the commit. */
  followUp?: string;
  /** Whether to notify the process that holds the platform's connection. */
  isNotified?: boolean;
}

/** Parts of a finished answer that the platform shows apart from its text, where it supports that. */
export interface ReplyExtras {
  /** Status lines about the answer. */
  status?: string;
  /** The model's reasoning. */
  thinking?: string;
  /** The person to mention when the bot addresses them in a group. */
  mention?: string;
  /** Precedes the answer in a file. */
  fileHeader?: string;
  /** Buttons to show on the answer. */
  offers?: readonly ReplyAction[];
}

/** `retry`: answer the question again. `rate`: rate the answer. */
export type ReplyAction = 'retry' | 'rate';

/** One visible answer while it grows. */
export interface LiveReply {
  /**
   * Checks whether the platform already shows the complete answer, where that can be determined. Used for a turn whose
   * answered state a failover may have lost.
   * @param otherTargets reply targets of messages with which this one may have been merged
   * @returns the records for the commit; undefined if the question must still be answered
   */
  findCompleteAnswer(otherTargets?: readonly string[]): Promise<FinalRecord[] | undefined>;
  /** Called shortly before the first snapshot, to run checks early. Returns at once. */
  prepare(): void;
  /**
   * Schedules a snapshot, whose fields may be getters: they are read when it is written. Returns at once; a write refused by
   * the fence ends the turn through `fenced`.
   */
  show(view: Omit<ReplyView, 'finished'>): void;
  /** Ends the reply with its final text. @returns the records that the commit writes; the commit makes the answer visible */
  finish(text: string, apart?: ReplyExtras): Promise<FinalRecord[]>;
  /**
   * Ends the reply of a deleted question: removes the visible answer where the platform allows it, and posts nothing
   * new. An answer that cannot be removed ends with this text.
   */
  retract(text: string): Promise<FinalRecord[]>;
  /** Leaves the reply open with this snapshot (a question that waits for its sender to sign in). It can grow later. */
  leaveOpen(text: string, mention?: string): Promise<FinalRecord[]>;
  /** Stops writing and waits for the write in progress. */
  close(): Promise<void>;
  /**
   * Ends the turn here without a final snapshot: stops writing, waits for the write in progress and records the message's
   * handle, so that the next worker finds it. Both waits end after 2 s. Called before the turn is released.
   */
  abandon(): Promise<void>;
}

/** Dependencies shared by all replies of a process. */
export interface SharedReplyOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Monotonic clock for durations. Defaults to the process's clock. */
  monotonicMs?: NowMs;
  log: Log;
  report: ReplyReport;
  /** Schedules checks of a delivered answer that an uncertain call may still change. */
  reconciliation: Pick<DeferredReconciliation, 'later'>;
}

/** Fields of the turn's claim: conversation and epoch, arrival time of the message, and earlier progress. */
type ReplyClaim = Pick<TurnClaim, 'conversation' | 'epoch' | 'startedAtMs' | 'wasHandedOver' | 'wasBegun' | 'trace'>;

/** The turn's callbacks for ending it and for storing its answer. */
type ReplyControls = Pick<
  TurnControls,
  'signal' | 'fenced' | 'stopped' | 'storeAnswer' | 'sealAnswer' | 'isClaimHeld' | 'waitIdle'
>;

export interface LiveReplyOptions {
  deps: SharedReplyOptions;
  claim: ReplyClaim;
  controls: ReplyControls;
  platform: Platform;
  /** The answered message, and the messages merged into its turn, which point to it. */
  deliveryId: DeliveryId;
  mergedIds: DeliveryId[];
  laterReplyHandle: string | undefined;
  /** The asker and their private conversation; absent where no follow-up is possible. */
  asker?(): { userId: string; privateChat: ConversationRef };
  /** Where to post the answer; absent where the platform polls us. */
  replyTarget: string | undefined;
  language: Language;
}
