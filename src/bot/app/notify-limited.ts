import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { tryAcquire } from '../../shared/redis/claim-once.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { personIdOf } from '../domain/conversation.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { InboundMessage } from '../domain/message.ts';
import { rateLimitText } from '../reply/read-live-reply.ts';

/**
 * Tells a person, at most once a minute, that messages were refused by the rate limit. For platforms that do not show the
 * HTTP answer.
 */
export function createNotifyLimited({ redis, keyRing, log }: { redis: RedisClient; keyRing: KeyRing; log: Log }) {
  return (platform: Platform, message: InboundMessage): void => {
    void (async () => {
      const person = keyRing.pseudonym('told-limited', personIdOf(message, message.sender.userId));
      if (await tryAcquire(redis, `{told}:limited:${person}`, MINUTE_MS))
        await platformForTenant(platform, message.tenant)?.writePrivately?.(message.sender.userId, rateLimitText());
    })().catch((thrown: unknown) =>
      log.debug({ error: asError(thrown) }, 'a person could not be notified of the message limit'),
    );
  };
}
