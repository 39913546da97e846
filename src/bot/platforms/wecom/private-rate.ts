import { asError } from '../../../shared/coded-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { PartOfText } from '../platform.ts';

/** Limits unsolicited messages to one person, across all processes. */
export interface PrivateRate {
  /**
   * Called right before messages are sent.
   * @param person a pseudonym. @param partOf the longer text to which they belong; only one text at a time is sent to a
   * person
   * @returns whether they may be sent now; if not, nothing is counted and the call may be repeated
   */
  tryAcquire(person: string, count: number, partOf?: PartOfText): Promise<boolean>;
}

/**
 * WeCom shows a member 30 messages of an app per minute and 1,000 per hour, and drops the rest without an error. A burst of
 * 12 and then one per 4 s is at most 30 in any 70 seconds and 915 in an hour, so each message may be up to ten seconds late.
 */
const MAX_AT_ONCE = 12;
const GAP_MS = 4 * SECOND_MS;
/** Longer than a worker's pause between two attempts to send one text. */
const HELD_MS = MINUTE_MS;
const script = loadScript(import.meta.url, './scripts/may-leave.lua', {
  constants: { MAX_AT_ONCE, GAP_MS, HELD_MS },
  keys: ['record'],
  args: ['count', 'text?', 'isLast'],
  answer: 'flag',
});

export function createPrivateRate(redis: RedisClient, log: Log): PrivateRate {
  return {
    async tryAcquire(person, count, partOf) {
      const args = { count, text: partOf?.name, isLast: partOf?.isLast === true };
      try {
        return await script.run(redis, { record: `private-rate:${person}` }, args);
      } catch (error) {
        log.warn({ error: asError(error) }, 'the number of messages sent to a person could not be read');
        return false;
      }
    },
  };
}
