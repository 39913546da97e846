import type { Delivery, Platform, RawDelivery } from '../../src/bot/platforms/platform.ts';

/** Hands a delivery to a platform as the webhook does: first what stands before the body, then its bytes. */
export function receiveAt(platform: Platform, { body, ...head }: RawDelivery): Delivery {
  const headers = { 'content-length': String(body.length), ...head.headers };
  const admitted = platform.admit({ ...head, headers });
  return typeof admitted === 'function' ? admitted(body) : admitted;
}
