import type { DeliveryId } from '../domain/ids.ts';
import type { Delivery, Platform, WebhookResponse } from '../platforms/platform.ts';
import type { DeliveryDeadline } from './delivery-deadline.ts';
import type { DeliveryOutcome } from './webhook-report.ts';

/** Where a delivery came from, and how long its response may take. */
export interface Arrival {
  platform: Platform;
  deadline: DeliveryDeadline;
}

export type DeliveryOf<Kind extends Delivery['kind']> = Extract<Delivery, { kind: Kind }>;

export interface Handled {
  answer: WebhookResponse;
  outcome: DeliveryOutcome;
  deliveryId?: DeliveryId;
}

export const NOT_STORED: Handled = { answer: { status: 503, body: '' }, outcome: 'not-stored' };
