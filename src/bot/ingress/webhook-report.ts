import type { FeedbackReason, FeedbackVerdict } from '../domain/feedback.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { ConnectionChange } from '../platforms/platform.ts';
import type { Refusal } from '../domain/message.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Outcome of one delivery. */
export type DeliveryOutcome =
  | 'accepted'
  | 'repeated'
  | Refusal
  | 'refused'
  | 'too-large'
  | 'not-stored'
  | 'polled'
  | 'event'
  | 'ignored'
  | 'handshake';

/** Events that the webhook module reports. */
export interface WebhookReport {
  deliveryReceived(event: {
    platform: PlatformName;
    kind: string;
    outcome: DeliveryOutcome;
    /** Set for messages. */
    deliveryId?: DeliveryId;
    durationMs: number;
    /** Why the delivery was refused or could not be read; with it the clock difference in seconds, or the size. */
    reason?: string;
    offSec?: number;
    sizeBytes?: number;
  }): void;
  /** The first delivery of a platform since the start that was verified and understood. */
  deliveryVerified(event: { platform: PlatformName }): void;
  /** State change of the connection over which a platform delivers instead of calling the webhook. */
  connectionChanged(event: { platform: PlatformName } & ConnectionChange): void;
  /** A delivery came over a connection and could not be stored; the platform does not send it again. */
  deliveryLost(event: { platform: PlatformName; reason: string }): void;
  /** A person rated an answer, or changed their rating. */
  feedbackGiven(event: {
    platform: PlatformName;
    verdict: FeedbackVerdict;
    reasons: readonly FeedbackReason[];
    /** The verdict was already known; this event adds the reasons. */
    isDetail: boolean;
    /** The message that was answered, if known. */
    deliveryId?: DeliveryId;
  }): void;
  welcomeSent(event: { platform: PlatformName }): void;
}
