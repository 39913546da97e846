import type { PlatformName } from '../domain/message.ts';
import type { ConnectionChange } from '../platforms/connection.ts';
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
  feedbackGiven(event: { platform: PlatformName; verdict: 'good' | 'bad' | 'withdrawn' }): void;
  welcomeSent(event: { platform: PlatformName }): void;
}
