import type { Config, Secrets } from '../settings/config.ts';

/** Whether a start makes keys of its own, or brings a Redis. */
export function needsLocalParts({ embedded, mode }: Config, { secretKey }: Secrets): boolean {
  return embedded.redis || mode === 'local' || !secretKey;
}
