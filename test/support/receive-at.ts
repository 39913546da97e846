import type { Delivery, Platform, RawDelivery } from '../../src/bot/platforms/platform.ts';

/** Passes a delivery to a platform like the webhook: first the headers, then the body bytes. */
export function receiveAt(platform: Platform, { body, ...head }: RawDelivery): Delivery {
  const headers = { 'content-length': String(body.length), ...head.headers };
  const admitted = platform.verifyHeaders({ ...head, headers });
  return typeof admitted === 'function' ? admitted(body) : admitted;
}
