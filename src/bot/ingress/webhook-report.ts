import type { FeedbackReason, FeedbackVerdict } from '../domain/feedback.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { ConnectionChange } from '../platforms/platform.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** What became of one delivery. */
export type DeliveryOutcome =
  | 'accepted'
  | 'repeated'
  | 'limited'
  | 'refused'
  | 'too-large'
  | 'not-stored'
  | 'polled'
  | 'event'
  | 'ignored'
  | 'handshake';

/** What the webhook room tells about itself. */
export interface WebhookReport {
  deliveryReceived(event: {
    platform: PlatformName;
    kind: string;
    outcome: DeliveryOutcome;
    /** Of a message. */
    deliveryId?: DeliveryId;
    durationMs: number;
    /** Why it was refused, or could not be read; with it the seconds that its time is off, or its size. */
    reason?: string;
    offSec?: number;
    sizeBytes?: number;
  }): void;
  /** The first delivery of a platform since the start that was verified and made sense. */
  deliveryProven(event: { platform: PlatformName }): void;
  /** The connection over which a platform delivers, where it does not call the webhook. */
  connectionChanged(event: { platform: PlatformName } & ConnectionChange): void;
  /** A delivery came over a connection and could not be stored; the platform does not send it again. */
  deliveryLost(event: { platform: PlatformName; reason: string }): void;
  /** What somebody thinks of an answer has become known, or has changed. */
  feedbackGiven(event: {
    platform: PlatformName;
    verdict: FeedbackVerdict;
    reasons: readonly FeedbackReason[];
    /** The verdict was known; this says why. */
    isDetail: boolean;
    /** The message that was answered, where it is known. */
    deliveryId?: DeliveryId;
  }): void;
  welcomeSent(event: { platform: PlatformName }): void;
}
