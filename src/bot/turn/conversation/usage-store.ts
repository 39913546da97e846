import { DAY_MS, type NowMs } from '../../../shared/clock.ts';
import { localTime } from '../../../shared/local-time.ts';
import { definedOnly } from '../../../shared/defined-only.ts';
import { usageKey } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { scanKeys } from '../../../shared/redis/scan-keys.ts';
import { ALL_PARTITIONS } from '../../domain/conversation.ts';
import type { UsageChange } from '../../domain/turn.ts';
import type { Cost } from '../../../shared/models/cost.ts';
import { asPersonId, type PersonId } from '../../domain/ids.ts';

/** Usage of a person. */
export interface Usage {
  questions: number;
  /** Prompt and answer tokens together. */
  tokens: number;
}

/** What a question is counted for, besides its person and day. */
export interface UsageOrigin {
  /** The model that answered. */
  model: string;
  /** Department code of the account; empty if unknown. */
  department: string;
}

/** Millionths of each currency. */
export type Costs = Readonly<Record<string, number>>;

/** Usage of one person on one day with one model, as it is stored. */
export interface UsageRow extends Usage, UsageOrigin {
  costs: Costs;
  /** Day in the institution's time zone, `YYYY-MM-DD`. */
  day: string;
  person: PersonId;
}

/** The first and the last day to read, `YYYY-MM-DD`, both included; an empty one is no limit. */
export interface UsageDays {
  since: string;
  until: string;
}

/** Life after the last use in a month, so that a whole month can be read until the 9th of the next one. */
const LIFE_MS = 40 * DAY_MS;
const COST = 'cost-';

/**
 * Usage that a turn or a summary adds for its person, by day and month in the institution's time zone. It is stored in the
 * chat's partition, so that the commit (or the script that writes the summary) can write it: each answered turn is counted
 * exactly once.
 * @param personId the person's pseudonym (`personIdOf`); no message content is stored
 * @param origin absent for a summary
 */
export function usageChange(
  place: { partition: number; personId: PersonId; nowMs: number; timeZone: string },
  { questions, tokens, cost }: Usage & { cost?: Cost },
  origin?: UsageOrigin,
): UsageChange {
  const { day, month } = periodsOf(place.nowMs, place.timeZone);
  const field = origin ? [day, ...[origin.model, origin.department].map(encodeURIComponent)].join(':') : day;
  return {
    key: usageKey(place.partition, place.personId, month),
    add: definedOnly({
      [`${field}:questions`]: questions > 0 ? questions : undefined,
      [`${field}:tokens`]: Math.round(tokens),
      [`${field}:${COST}${cost?.currency ?? ''}`]: cost && cost.micros > 0 ? cost.micros : undefined,
    }),
    lifeMs: LIFE_MS,
  };
}

/** All stored usage of some days. For commands only: searches all keys. */
export async function readAllUsage(redis: RedisClient, days: UsageDays): Promise<UsageRow[]> {
  const keys = await scanKeys(redis, '{p*}:usage:*');
  const rows = new Map<string, UsageRow>();
  // In steps: the page of administrators shares its connection and event loop with deliveries.
  for (let from = 0; from < keys.length; from += KEYS_A_STEP) {
    const hashes = await Promise.all(
      keys.slice(from, from + KEYS_A_STEP).map(async (key) => {
        const [, , person = '', month = ''] = key.split(':');
        return { person: asPersonId(person), month, fields: await redis.hgetall(key) };
      }),
    );
    addRows(rows, hashes, days);
  }
  return [...rows.values()];
}

const KEYS_A_STEP = 100;

function addRows(
  rows: Map<string, UsageRow>,
  hashes: readonly { person: PersonId; month: string; fields: Readonly<Record<string, string>> }[],
  { since, until }: UsageDays,
): void {
  for (const { person, month, fields } of hashes) {
    for (const [field, count] of Object.entries(fields)) {
      const [dayOfMonth = '', ...rest] = field.split(':');
      const what = rest.pop() ?? '';
      const [model = '', department = ''] = rest.map(decodeURIComponent);
      const day = `${month}-${dayOfMonth}`;
      if (day < since || (until !== '' && day > until)) continue;
      const name = [day, person, model, department].join('\n');
      const row = rows.get(name) ?? { day, person, model, department, questions: 0, tokens: 0, costs: {} };
      if (what === 'questions' || what === 'tokens') row[what] += Number(count);
      else if (what.startsWith(COST)) row.costs = addCosts(row.costs, { [what.slice(COST.length)]: Number(count) });
      rows.set(name, row);
    }
  }
}

export function addCosts(some: Costs, more: Costs): Costs {
  const sums: Record<string, number> = { ...some };
  for (const [currency, micros] of Object.entries(more)) sums[currency] = (sums[currency] ?? 0) + micros;
  return sums;
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
