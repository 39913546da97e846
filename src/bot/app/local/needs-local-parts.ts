import type { Config, Secrets } from '../../config/config.ts';

/** Whether a start makes keys of its own, or brings a Redis. */
export function needsLocalParts({ embedded, mode }: Config, { secretKey }: Secrets): boolean {
  return embedded.redis || mode === 'local' || !secretKey;
}
