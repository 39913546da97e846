import { asError } from '../../../shared/coded-error.ts';
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { PartOfText } from '../platform.ts';

/** How much is written to one person unasked, by all processes together. */
export interface PrivateRate {
  /**
   * Asked right before messages leave.
   * @param person a pseudonym. @param partOf the longer text that they are of; one text at a time is written to a person
   * @returns whether they may leave now; else nothing is counted, and the same may be asked again
   */
  mayLeave(person: string, count: number, partOf?: PartOfText): Promise<boolean>;
}

/**
 * WeCom shows a member 30 messages of an app in a minute and 1,000 in an hour, and drops the rest without an error. Twelve at
 * once and one in four seconds are at most 30 in any 70 seconds and 915 in an hour: they may be ten seconds late, each by itself.
 */
const MOST_AT_ONCE = 12;
const GAP_MS = 4 * SECOND_MS;
/** Longer than a worker's pause between two tries of one text. */
const HELD_MS = MINUTE_MS;
const script = loadScript(import.meta.url, './scripts/may-leave.lua', {
  constants: { MOST_AT_ONCE, GAP_MS, HELD_MS },
  keys: ['record'],
  args: ['count', 'text?', 'isLast'],
  answer: 'flag',
});

export function createPrivateRate(redis: RedisClient, log: Log): PrivateRate {
  return {
    async mayLeave(person, count, partOf) {
      const args = { count, text: partOf?.name, isLast: partOf?.isLast === true };
      try {
        return await script.run(redis, { record: `private-rate:${person}` }, args);
      } catch (error) {
        log.warn({ error: asError(error) }, 'it could not be asked how much a person was written to');
        return false;
      }
    },
  };
}
