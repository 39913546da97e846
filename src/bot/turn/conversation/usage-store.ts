import { DAY_MS, type NowMs } from '../../../shared/clock.ts';
import { localTime } from '../../../shared/local-time.ts';
import { definedOnly } from '../../../shared/defined-only.ts';
import { usageKey } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { ALL_PARTITIONS } from '../../domain/conversation.ts';
import type { UsageChange } from '../../domain/turn.ts';
import type { PersonId } from '../../domain/ids.ts';

/** Usage of a person. */
export interface Usage {
  questions: number;
  /** Prompt and answer tokens together. */
  tokens: number;
}

const LIFE_MS = 40 * DAY_MS;

/**
 * Usage that a turn or a summary adds for its person, by day and month in the institution's time zone. It is stored in the
 * chat's partition, so that the commit (or the script that writes the summary) can write it: each answered turn is counted
 * exactly once.
 * @param personId the person's pseudonym (`personIdOf`); no message content is stored
 */
export function usageChange(
  place: { partition: number; personId: PersonId; nowMs: number; timeZone: string },
  { questions, tokens }: Usage,
): UsageChange {
  const { day, month } = periodsOf(place.nowMs, place.timeZone);
  return {
    key: usageKey(place.partition, place.personId, month),
    add: definedOnly({
      [`${day}:questions`]: questions > 0 ? questions : undefined,
      [`${day}:tokens`]: Math.round(tokens),
    }),
    lifeMs: LIFE_MS,
  };
}

/** A person's usage in all chats of the platform. One command per partition; used only by a slash command. */
export async function readUsage(
  redis: RedisClient,
  personId: PersonId,
  { nowMs, timeZone }: { nowMs: NowMs; timeZone: string },
): Promise<{ today: Usage; thisMonth: Usage }> {
  const { day, month } = periodsOf(nowMs(), timeZone);
  const counters = await Promise.all(
    ALL_PARTITIONS.map((partition) => redis.hgetall(usageKey(partition, personId, month))),
  );
  const sumOf = (isMeant: (field: string) => boolean) =>
    counters
      .flatMap((fields) => Object.entries(fields))
      .reduce((sum, [field, count]) => (isMeant(field) ? sum + Number(count) : sum), 0);
  const usageOf = (period: string): Usage => ({
    questions: sumOf((field) => field.startsWith(period) && field.endsWith(':questions')),
    tokens: sumOf((field) => field.startsWith(period) && field.endsWith(':tokens')),
  });
  return { today: usageOf(`${day}:`), thisMonth: usageOf('') };
}

function periodsOf(nowMs: number, timeZone: string): { day: string; month: string } {
  const { date } = localTime(nowMs, timeZone);
  return { day: date.slice(-'DD'.length), month: date.slice(0, 'YYYY-MM'.length) };
}
