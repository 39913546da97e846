import type { PlatformName } from '../platforms/platform.ts';

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
  deliveryReceived(event: { platform: PlatformName; kind: string; outcome: DeliveryOutcome; durationMs: number }): void;
  feedbackGiven(event: { platform: PlatformName; verdict: 'good' | 'bad' | 'withdrawn' }): void;
  welcomeSent(event: { platform: PlatformName }): void;
}
