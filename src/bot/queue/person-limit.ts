import { Cluster } from 'ioredis';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { personRateKey, rateKey } from '../domain/partition-keys.ts';
import type { DeliveryId, PersonId } from '../domain/ids.ts';
import type { Refusal } from '../domain/message.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';

/** Counts a person's message for all processes of a cluster. Answers the count of the current minute. */
export const countScript = loadScript(import.meta.url, './scripts/count-person.lua', {
  keys: ['messages'],
  args: ['deliveryId', 'minuteMs'],
  answer: 'number',
});

const RATE_PURPOSE = 'person-rate';
/** Maximum counts kept in memory. The oldest are dropped first; Redis still has them. */
const MAX_REMEMBERED = 20_000;

interface PersonCount {
  count: number;
  /** On the monotonic clock. */
  untilMs: number;
}

/**
 * Limits one person's messages per minute over all chats. A single Redis counts in the script that accepts (accept.lua). On
 * a cluster, chats are on several nodes, which no script can span, and asking another node first would cost each message a
 * round trip: each process counts locally and learns the other processes' counts right after each message.
 */
export class PersonRateLimiter {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #maxPerMinute: number;
  /** Oldest first. Used on a cluster only. */
  readonly #counts = new Map<string, PersonCount>();

  constructor(redis: RedisClient, keyRing: KeyRing, maxPerMinute: number) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#maxPerMinute = maxPerMinute;
  }

  /** The counter key for accept.lua. */
  counterOf(partition: number, personId: PersonId): string {
    const name = this.#nameOf(personId);
    return this.#redis instanceof Cluster ? rateKey(partition, `person:${name}`) : personRateKey(name);
  }

  /** Counts a message that is about to be stored. @returns whether it exceeds the limit, as far as this process knows */
  begin(personId: PersonId): boolean {
    if (!(this.#redis instanceof Cluster)) return false;
    const counted = this.#countOf(personId);
    counted.count += 1;
    return counted.count > this.#maxPerMinute;
  }

  /** Records the result: a repeat is not counted, and a new message is shared with the other processes. */
  end(personId: PersonId, deliveryId: DeliveryId, result: 'new' | 'repeat' | Refusal): void {
    if (!(this.#redis instanceof Cluster) || (result !== 'new' && result !== 'repeat')) return;
    const counted = this.#countOf(personId);
    if (result === 'repeat') counted.count -= 1;
    else inBackground(() => this.#share(personId, deliveryId, counted));
  }

  async #share(personId: PersonId, deliveryId: DeliveryId, counted: PersonCount): Promise<void> {
    try {
      const messages = personRateKey(this.#nameOf(personId));
      const all = await countScript.run(this.#redis, { messages }, { deliveryId, minuteMs: MINUTE_MS });
      counted.count = Math.max(counted.count, all);
    } catch {
      // The next message uses the local count.
    }
  }

  #nameOf(personId: PersonId): string {
    return this.#keyRing.pseudonym(RATE_PURPOSE, personId);
  }

  #countOf(personId: PersonId): PersonCount {
    const nowMs = monotonicMs();
    const known = this.#counts.get(personId);
    if (known && known.untilMs > nowMs) return known;
    this.#counts.delete(personId);
    for (const [id, { untilMs }] of this.#counts) {
      if (untilMs > nowMs && this.#counts.size < MAX_REMEMBERED) break;
      this.#counts.delete(id);
    }
    const fresh = { count: 0, untilMs: nowMs + MINUTE_MS };
    this.#counts.set(personId, fresh);
    return fresh;
  }
}
