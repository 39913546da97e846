import type { ChatReport } from '../chat/chat-types.ts';
import type { IdentityReport } from '../identity/audit.ts';
import type { PlatformName } from '../domain/message.ts';
import type { QueueReport } from '../queue/queue-report.ts';

/** What the receiving side tells. Durations are milliseconds. */
export interface ReceivingReport {
  deliveryReceived(event: {
    platform: PlatformName;
    kind: string;
    outcome: string;
    durationMs: number;
    reason?: string;
    offSec?: number;
    sizeBytes?: number;
  }): void;
  deliveryProven(event: { platform: PlatformName }): void;
  feedbackGiven(event: { platform: PlatformName; verdict: 'good' | 'bad' | 'withdrawn' }): void;
  welcomeSent(event: { platform: PlatformName }): void;
}

/** What turns and their replies tell. */
export interface AnswerReport {
  accessRefused(event: {
    platform: PlatformName;
    person: string;
    because: 'person' | 'private' | 'group';
    rule: string;
  }): void;
  toolEnded(event: { tool: string; outcome: 'done' | 'refused' | 'failed' | 'timeout'; durationMs: number }): void;
  turnEnded(event: {
    platform: PlatformName;
    turnId: string;
    outcome: string;
    durationMs: number;
    waitedMs: number;
  }): void;
  /** A platform takes no call of ours until the operator mends the app. `code` is the platform's own word. */
  platformRefused(event: { platform: PlatformName; code: string }): void;
  /** A whole answer is kept, since the platform takes no calls; it is tried again. */
  answerKept(event: { platform: PlatformName }): void;
  firstTextShown(event: { platform: PlatformName; afterMs: number }): void;
  replyHandedOver(event: { platform: PlatformName; result: 'sent' | 'kept' | 'unavailable' }): void;
}

/**
 * One function for each thing worth knowing, for all rooms of the bot. Each writes its log line and moves its counters,
 * so that the two cannot drift apart. Ids go to the log only, small sets to labels; message text and tokens go nowhere.
 */
export type Report = ReceivingReport & AnswerReport & QueueReport & ChatReport & IdentityReport;
