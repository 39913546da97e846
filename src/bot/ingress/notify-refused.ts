import { MINUTE_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { tryAcquire } from '../../shared/redis/claim-once.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { personIdOf } from '../domain/conversation.ts';
import type { InboundMessage, Refusal } from '../domain/message.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import { refusalText } from '../reply/read-live-reply.ts';

/**
 * Tells a person, at most once a minute for each reason, that messages were refused. Runs in the background. For platforms
 * that do not show the HTTP answer.
 */
export function notifyRefused(
  { redis, keyRing, log }: { redis: RedisClient; keyRing: KeyRing; log: Log },
  platform: Platform,
  message: InboundMessage,
  refusal: Refusal,
): void {
  const { userId } = message.sender;
  inBackground(
    async () => {
      const person = keyRing.pseudonym('told-limited', personIdOf(message, userId));
      if (await tryAcquire(redis, `{told}:${refusal}:${person}`, MINUTE_MS))
        await platformForTenant(platform, message.tenant)?.writePrivately?.(userId, refusalText(refusal));
    },
    (error) => log.debug({ error }, 'a person could not be notified of a refused message'),
  );
}
