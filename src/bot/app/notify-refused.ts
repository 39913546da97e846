import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { tryAcquire } from '../../shared/redis/claim-once.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { personIdOf } from '../domain/conversation.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import type { InboundMessage, Refusal } from '../domain/message.ts';
import { refusalText } from '../reply/read-live-reply.ts';

/**
 * Tells a person, at most once a minute for each reason, that messages were refused. For platforms that do not show the HTTP
 * answer.
 */
export function createNotifyRefused({ redis, keyRing, log }: { redis: RedisClient; keyRing: KeyRing; log: Log }) {
  return (platform: Platform, message: InboundMessage, refusal: Refusal): void => {
    void (async () => {
      const person = keyRing.pseudonym('told-limited', personIdOf(message, message.sender.userId));
      if (await tryAcquire(redis, `{told}:${refusal}:${person}`, MINUTE_MS))
        await platformForTenant(platform, message.tenant)?.writePrivately?.(
          message.sender.userId,
          refusalText(refusal),
        );
    })().catch((thrown: unknown) =>
      log.debug({ error: asError(thrown) }, 'a person could not be notified of a refused message'),
    );
  };
}
