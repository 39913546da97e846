import type { Config, Secrets } from '../../config/config.ts';

/** Whether a start generates keys or runs an embedded Redis. */
export function needsLocalParts({ embedded, mode }: Config, { secretKey }: Secrets): boolean {
  return embedded.redis || mode === 'local' || !secretKey;
}
