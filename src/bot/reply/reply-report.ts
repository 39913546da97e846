import type { PlatformName } from '../domain/platform-name.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Events that the reply module reports. */
export interface ReplyReport {
  /** The platform could show the first text of an answer, `afterMs` after its message arrived. */
  firstTextShown(event: { platform: PlatformName; deliveryId: DeliveryId; afterMs: number }): void;
  /** A complete answer is stored because the platform refuses all calls; it is retried. */
  answerKept(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /** The platform refused an answer in every form. Raises an alarm: the person sees one sentence at best. */
  answerNotShown(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /**
   * An answer or its rest was delivered another way because its live time was over or it was too long for one message.
   * `kept`: the person's next private reply begins with it. `unavailable`: no other way exists; the person was told.
   */
  replyHandedOver(event: {
    platform: PlatformName;
    deliveryId: DeliveryId;
    result: 'sent' | 'kept' | 'unavailable';
    /** The way: `file` or `handle` (the message's own request or address), `private`, or `reply` (the next private reply). */
    way?: string;
  }): void;
}
