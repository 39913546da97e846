import type { PlatformName, PostResult } from '../platforms/platform.ts';

/** What the reply room tells about itself. */
export interface ReplyReport {
  /** The first text of an answer could be seen by the platform, so long after its message came. */
  firstTextShown(event: { platform: PlatformName; afterMs: number }): void;
  /** An answer went the platform's other way because its live reply's time was over, or it was too long for one message. */
  replyHandedOver(event: { platform: PlatformName; result: PostResult | 'unavailable' }): void;
}
