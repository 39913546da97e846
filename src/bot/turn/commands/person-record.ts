import { ALL_PARTITIONS, personIdOf, type ConversationRef } from '../../domain/conversation.ts';
import { asConversationId, asDeliveryId, type AccountId, type PersonId } from '../../domain/ids.ts';
import {
  chatsKey,
  feedbackKey,
  preferencesKeyPrefix,
  ratedByKey,
  unansweredKey,
  usageKey,
} from '../../domain/partition-keys.ts';
import { FEEDBACK_PURPOSE, ratersOf } from '../../reply/feedback/keep-feedback.ts';
import { tryOpen } from '../../../shared/crypto/decrypt-record.ts';
import { localTime } from '../../../shared/local-time.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { openPreferencesOf, type Preferences } from '../conversation/preferences.ts';
import { readHistory } from '../conversation/read-history.ts';
import { speakerTagOf } from '../prompt/turn-history.ts';
import type { TurnContext } from '../turn-context.ts';
import type { RecordOptions } from './forget.ts';

/** A stored rating of a person. */
export interface OwnRating {
  atMs: number;
  verdict: string;
  reasons: string;
  words: string;
}

/** Counters of a month. */
export interface MonthlyUsage {
  month: string;
  questions: number;
  tokens: number;
}

/** Everything that is stored about a person in all chats of a platform, for /export. */
export interface PersonRecord {
  /** Own turns, oldest first, each once. */
  turns: HistoryTurn[];
  preferences: Preferences[];
  usage: MonthlyUsage[];
  ratings: OwnRating[];
  /** Number of questions that are counted as unanswered. */
  unanswered: number;
}

type ReadOptions = Pick<RecordOptions, 'redis' | 'keyRing'> & { nowMs: number; timeZone: string };

/** Days before now within which the previous month's counters are still stored. */
const LAST_MONTH_MS = 31 * DAY_MS;

/**
 * Reads a person's record. Several commands per partition, sent together; used only by a slash command. Turns that earlier
 * versions stored in groups are not found, because those kept no list of a person's conversations.
 * @param accountId only turns of this account are read (SECURITY.md link-is-told)
 */
export async function readPersonRecord(
  options: ReadOptions,
  { newest, turn }: Pick<TurnContext, 'newest' | 'turn'>,
  accountId: AccountId | undefined,
): Promise<PersonRecord> {
  const person = personIdOf(newest, newest.sender.userId);
  const found = await Promise.all(ALL_PARTITIONS.map((partition) => readPartition(options, partition, person)));
  const others = found.flatMap(({ conversations }) => conversations).filter(({ id }) => id !== turn.conversation.id);
  const tag = speakerTagOf(newest);
  const turns = new Map<string, HistoryTurn>();
  for (const conversation of [turn.conversation, ...others])
    for (const { turn: said } of await readHistory(options.redis, options.keyRing, conversation)) {
      const isOwn = said.speakerTag === undefined || said.speakerTag === tag;
      if (isOwn && said.accountId === accountId) turns.set(said.turnId, said);
    }
  const usage = new Map<string, MonthlyUsage>();
  for (const one of found.flatMap((part) => part.usage)) {
    const sum = usage.get(one.month) ?? { month: one.month, questions: 0, tokens: 0 };
    usage.set(one.month, { ...sum, questions: sum.questions + one.questions, tokens: sum.tokens + one.tokens });
  }
  return {
    turns: [...turns.values()].sort((one, other) => one.atMs - other.atMs),
    preferences: found.flatMap((part) => part.preferences),
    usage: [...usage.values()],
    ratings: found.flatMap((part) => part.ratings).sort((one, other) => one.atMs - other.atMs),
    unanswered: found.reduce((sum, part) => sum + part.unanswered, 0),
  };
}

interface PartitionRecord extends Omit<PersonRecord, 'turns'> {
  conversations: ConversationRef[];
}

async function readPartition(options: ReadOptions, partition: number, person: PersonId): Promise<PartitionRecord> {
  const { redis, keyRing, nowMs, timeZone } = options;
  const months = [nowMs - LAST_MONTH_MS, nowMs].map((ms) => localTime(ms, timeZone).date.slice(0, 'YYYY-MM'.length));
  const [chats, stored, counters, ratings, unanswered] = await Promise.all([
    redis.zrange(chatsKey(partition, person), '0', '-1'),
    redis.hgetall(preferencesKeyPrefix(partition) + person),
    Promise.all(
      [...new Set(months)].map(async (month) =>
        usageIn(month, await redis.hgetall(usageKey(partition, person, month))),
      ),
    ),
    Promise.all(ratersOf(keyRing, person).map((rater) => ratingsOf(options, partition, rater))),
    redis.zcard(unansweredKey(partition, person)),
  ]);
  return {
    conversations: chats.map((id) => ({ id: asConversationId(id), partition })),
    preferences: openPreferencesOf(keyRing, person, stored),
    usage: counters.filter(({ questions, tokens }) => questions + tokens > 0),
    ratings: ratings.flat(),
    unanswered,
  };
}

function usageIn(month: string, fields: Readonly<Record<string, string>>): MonthlyUsage {
  const sumOf = (end: string) =>
    Object.entries(fields).reduce((sum, [field, count]) => (field.endsWith(end) ? sum + Number(count) : sum), 0);
  return { month, questions: sumOf(':questions'), tokens: sumOf(':tokens') };
}

async function ratingsOf({ redis, keyRing }: ReadOptions, partition: number, rater: string): Promise<OwnRating[]> {
  const answers = (await redis.zrange(ratedByKey(partition, rater), '0', '-1')).map(asDeliveryId);
  return Promise.all(
    answers.map(async (answer) => {
      const names = ['at', 'verdict', 'reasons', 'words'].map((name) => `${name}:${rater}`);
      const [at, verdict, reasons, words] = await redis.hmget(feedbackKey(partition, answer), ...names);
      const opened = tryOpen(() => keyRing.open(FEEDBACK_PURPOSE, answer, words ?? ''));
      const said = opened.kind === 'opened' ? opened.value : '';
      return { atMs: Number(at ?? 0), verdict: verdict ?? '', reasons: reasons ?? '', words: said };
    }),
  );
}
