import { Cluster } from 'ioredis';
import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { personRateKey, rateKey } from '../domain/partition-keys.ts';
import type { DeliveryId, PersonId } from '../domain/ids.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';

/** Counts a person's message for all processes of a cluster; answers how many of the minute there are. */
export const countScript = loadScript(import.meta.url, './scripts/count-person.lua', {
  keys: ['messages'],
  args: ['deliveryId', 'minuteMs'],
  answer: 'number',
});

const RATE_PURPOSE = 'person-rate';
/** Beyond it the oldest counts are forgotten; Redis has them still. */
const MOST_REMEMBERED = 20_000;

interface PersonCount {
  count: number;
  /** On the monotonic clock. */
  untilMs: number;
}

/**
 * What one person may send in a minute, over all chats. One Redis counts it in the step that accepts (accept.lua). On a cluster chats lie
 * on several nodes and no step spans two, and to ask another node first would cost every message a round trip: there each process
 * counts for itself, at once, and learns what the others counted right behind each message.
 */
export class PersonLimit {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;
  readonly #most: number;
  /** The oldest first; on a cluster only. */
  readonly #counts = new Map<string, PersonCount>();

  constructor(redis: RedisClient, keyRing: KeyRing, mostAMinute: number) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.#most = mostAMinute;
  }

  /** The counter that the step that accepts a message may touch. */
  counterOf(partition: number, personId: PersonId): string {
    const name = this.#nameOf(personId);
    return this.#redis instanceof Cluster ? rateKey(partition, `person:${name}`) : personRateKey(name);
  }

  /** Counts a message that is about to be stored. @returns whether it is one too many, as far as this process knows */
  begin(personId: PersonId): boolean {
    if (!(this.#redis instanceof Cluster)) return false;
    const counted = this.#countOf(personId);
    counted.count += 1;
    return counted.count > this.#most;
  }

  /** What became of it: a repeat counts for nothing, and what is new is told to the other processes. */
  end(personId: PersonId, deliveryId: DeliveryId, result: 'new' | 'repeat' | 'limited'): void {
    if (!(this.#redis instanceof Cluster) || result === 'limited') return;
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
      // The next message is counted by what this process knows.
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
      if (untilMs > nowMs && this.#counts.size < MOST_REMEMBERED) break;
      this.#counts.delete(id);
    }
    const fresh = { count: 0, untilMs: nowMs + MINUTE_MS };
    this.#counts.set(personId, fresh);
    return fresh;
  }
}
