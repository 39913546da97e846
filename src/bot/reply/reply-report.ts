import type { PlatformName } from '../domain/platform-name.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** What the reply room tells about itself. */
export interface ReplyReport {
  /** The first text of an answer could be seen by the platform, so long after its message came. */
  firstTextShown(event: { platform: PlatformName; deliveryId: DeliveryId; afterMs: number }): void;
  /** A whole answer is kept, since the platform takes no calls of ours; it is tried again. */
  answerKept(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /** The platform refused an answer in every form. An alarm: the person reads a sentence at best. */
  answerNotShown(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /**
   * An answer, or its rest, went another way because its live reply's time was over, or it was too long for one message.
   * `kept`: the person's next private reply begins with it. `unavailable`: there was no other way; the person was told.
   */
  replyHandedOver(event: {
    platform: PlatformName;
    deliveryId: DeliveryId;
    result: 'sent' | 'kept' | 'unavailable';
    /** By which way it went: `file` or `handle` (the message's own request or address), `private`, or `reply` for the next private reply. */
    way?: string;
  }): void;
}
