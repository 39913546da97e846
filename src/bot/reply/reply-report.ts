import type { PlatformName } from '../domain/platform-name.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Events that the reply module reports. */
export interface ReplyReport {
  /** The platform could show the first text of an answer, `afterMs` after its message arrived. */
  firstTextShown(event: { platform: PlatformName; deliveryId: DeliveryId; afterMs: number }): void;
  /** A complete answer was stored because the platform refuses all calls; its delivery is retried. */
  answerKept(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /** The platform refused an answer in every form. Raises an alarm: the person sees a one-sentence notice at best. */
  answerNotShown(event: { platform: PlatformName; deliveryId: DeliveryId }): void;
  /**
   * An answer or its remainder was delivered as a follow-up because its live time ended or it was too long for one message.
   * `kept`: the person's next private reply begins with it. `unavailable`: no other delivery method exists; the person was
   * notified.
   */
  replyHandedOver(event: {
    platform: PlatformName;
    deliveryId: DeliveryId;
    result: 'sent' | 'kept' | 'unavailable';
    /**
     * The delivery method: `file` or `handle` (by the message's reply handle), `private`, or `reply` (the next private
     * reply).
     */
    way?: string;
  }): void;
}
