import { HOUR_MS } from '../../../shared/clock.ts';
import { CLEARED_MARK_MS } from '../../queue/cleared-mark.ts';
import { amendMessage } from '../../queue/edit-message.ts';
import { conversationOf, type GroupScope } from '../../domain/conversation.ts';
import { asConversationId, asDeliveryId } from '../../domain/ids.ts';
import { fieldsToRead, messageFields } from '../../domain/message-record.ts';
import {
  conversationKeys,
  deadLettersKey,
  feedbackKey,
  followUpKeyPrefix,
  followUpsKey,
  mediaKey,
  ratedAnswersKey,
} from '../../domain/partition-keys.ts';
import { RECONCILIATION_KEYS } from '../../domain/partition-keys.ts';
import { storedMediaOf } from '../../turn/conversation/history.ts';
import { FIELDS_OF_RATER } from '../../reply/feedback/keep-feedback.ts';
import type { FoundData } from './scan-data.ts';
import type { DataOptions } from './subject.ts';

/** Counts of erased items by class. */
export type ErasedCounts = Record<string, number>;

/** Fields that keep a repeated delivery from being answered again. They name neither a person nor a place. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(fieldsToRead('state', 'atMs', 'history', 'turn', 'deleted'));

interface EraseOptions extends DataOptions {
  groupScope: GroupScope;
}

/**
 * Erases one piece of data. Safe to repeat. A message that waits for its answer is still answered, because every accepted
 * message gets its answer; it is marked so that nothing of it is stored (SECURITY.md taken-back).
 * @returns counts; `waiting` counts messages that still wait
 */
export async function eraseFound(options: EraseOptions, found: FoundData): Promise<ErasedCounts> {
  const { redis } = options;
  switch (found.kind) {
    case 'turns':
      return eraseTurns(options, found);
    case 'summary':
      // The mark makes a summary that is being written end without a result.
      await redis.set(found.key, '-erased', 'PX', CLEARED_MARK_MS);
      return { summaries: 1 };
    case 'waiting':
      return found.list === 'held' ? eraseHeld(options, found.messages) : {};
    case 'record':
      return eraseRecord(options, found);
    case 'dead-letter':
      await redis.del(found.key);
      await redis.zrem(deadLettersKey(found.partition), found.id);
      return { deadLetters: 1 };
    case 'conversation':
      await redis.del(found.key);
      return { [found.name]: 1 };
    case 'stop-mark':
      await redis.hdel(found.key, 'stopOwner');
      return { stopMarks: 1 };
    case 'ratings':
      return eraseRatings(options, found);
    case 'stored-media': {
      const names = await redis.lrange(found.key, 0, -1);
      const count = names.length > 0 ? await redis.del(...names) : 0;
      await redis.del(found.key);
      return { media: count };
    }
    case 'named':
      await redis.del(found.key);
      return { [found.name]: 1 };
  }
}

async function eraseTurns(
  { redis }: EraseOptions,
  { key, partition, id, turns, isAll, list }: FoundData & { kind: 'turns' },
): Promise<ErasedCounts> {
  const media = turns.flatMap(({ turn }) => storedMediaOf(turn)).map((one) => mediaKey(partition, one));
  const count = isAll ? await redis.llen(key) : turns.length;
  if (isAll) await redis.del(key);
  else for (const { sealed } of turns) await redis.lrem(key, 0, sealed);
  const gone = media.length > 0 ? await redis.del(...media) : 0;
  // A summary cannot be separated by person; the turns of other people are summarised again.
  const { summary } = conversationKeys({ id: asConversationId(id), partition });
  const hadSummary = list === 'history' && (await redis.exists(summary)) === 1;
  if (hadSummary) await redis.set(summary, '-erased', 'PX', HOUR_MS);
  return { turns: count, media: gone, summaries: hadSummary ? 1 : 0 };
}

async function eraseHeld(
  { redis, keyRing, groupScope }: EraseOptions,
  messages: (FoundData & { kind: 'waiting' })['messages'],
): Promise<ErasedCounts> {
  for (const message of messages)
    await amendMessage({ redis, keyRing }, conversationOf(message, groupScope), {
      ...{
        kind: 'deleted',
        message: { ...message, parts: [], quote: undefined },
        mayArriveLater: false,
        imagesBefore: 0,
      },
    });
  return { heldQuestions: messages.length };
}

async function isInHeldList(
  { redis }: EraseOptions,
  partition: number,
  { key, id }: { key: string; id: string },
): Promise<boolean> {
  const conversation = await redis.hget(key, ...fieldsToRead('conversation'));
  const { held } = conversationKeys({ id: asConversationId(conversation ?? ''), partition });
  return (await redis.lrange(held, 0, -1)).some((entry) => entry.startsWith(`${id}:`));
}

/** Parts of an answer that may have checks. */
const MAX_PARTS = 20;

async function eraseRecord(
  options: EraseOptions,
  { key, partition, id, state }: FoundData & { kind: 'record' },
): Promise<ErasedCounts> {
  const { redis } = options;
  if (state === 'accepted') {
    await redis.hset(key, ...messageFields({ deleted: '1' }));
    return { waiting: 1 };
  }
  // Held messages are erased with their list; afterwards their state is `deleted`. The list may have expired.
  if (state === 'held' && (await isInHeldList(options, partition, { key, id }))) return { waiting: 1 };
  const followUps = await redis.del(followUpKeyPrefix(partition) + id);
  await redis.zrem(followUpsKey(partition), id);
  // Named as in reply/deferred-reconciliation.ts.
  const parts = Array.from({ length: MAX_PARTS }, (_, part) => part);
  const checks = ['restore', 'remove-left'].flatMap((work) => parts.map((part) => `${work}:${id}:${part}`));
  await redis.hdel(RECONCILIATION_KEYS.checks, ...checks);
  await redis.zrem(RECONCILIATION_KEYS.due, ...checks);
  const gone = (await redis.hkeys(key)).filter((field) => !KEPT_FIELDS.has(field));
  if (gone.length > 0) await redis.hdel(key, ...gone);
  return { records: 1, followUps };
}

async function eraseRatings(
  { redis }: EraseOptions,
  { key, partition, id: rater }: FoundData & { kind: 'ratings' },
): Promise<ErasedCounts> {
  const answers = (await redis.zrange(key, '0', '-1')).map(asDeliveryId);
  for (const answer of answers) {
    const feedback = feedbackKey(partition, answer);
    const gone = await redis.hdel(feedback, ...FIELDS_OF_RATER.map((name) => `${name}:${rater}`));
    if (gone > 0 && (await redis.hincrby(feedback, 'raters', -1)) <= 0) {
      await redis.del(feedback);
      await redis.zrem(ratedAnswersKey(partition), answer);
    }
  }
  await redis.del(key);
  return { ratings: answers.length };
}
