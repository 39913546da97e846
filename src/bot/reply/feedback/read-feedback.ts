import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { tryOpen } from '../../../shared/crypto/decrypt-record.ts';
import { ALL_PARTITIONS, type ConversationRef } from '../../domain/conversation.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../../domain/ids.ts';
import { feedbackKey, ratedAnswersKey } from '../../domain/partition-keys.ts';
import { FEEDBACK_PURPOSE } from './keep-feedback.ts';

/** One person's stored rating of one answer. */
export interface StoredFeedback {
  /** Time of the last change. */
  atMs: number;
  platform: string;
  /** Id of the answered message; log lines and `trace` use the same id. */
  answer: DeliveryId;
  /** Pseudonym of the rater. */
  rater: string;
  verdict: string;
  reasons: string[];
  /** Empty if the answer was more than a day old at its first rating. */
  model: string;
  rule: string;
  /** Absent in the same case, and for ratings that earlier versions stored. */
  conversation?: ConversationRef;
  /** Empty if the rater wrote nothing, comments are not stored, or the stored comment cannot be decrypted. */
  words: string;
}

/** Number of answers read per batch; bounds memory for long lists. */
const AT_ONCE = 200;

/**
 * All ratings since the given time, partition by partition; within a partition in order of the answer's last rating.
 * @throws any error of the Redis connection
 */
export async function* readFeedback(
  { redis, keyRing }: { redis: RedisClient; keyRing: KeyRing },
  sinceMs: number,
): AsyncGenerator<StoredFeedback> {
  for (const partition of ALL_PARTITIONS) {
    const rated = ratedAnswersKey(partition);
    for (let from = 0; ; from += AT_ONCE) {
      const answers = await redis.zrangebyscore(rated, sinceMs, '+inf', 'LIMIT', from, AT_ONCE);
      const hashes = await Promise.all(answers.map((one) => redis.hgetall(feedbackKey(partition, asDeliveryId(one)))));
      for (const [index, hash] of hashes.entries())
        yield* ratingsIn(keyRing, { partition, answer: asDeliveryId(answers[index] ?? '') }, hash, sinceMs);
      if (answers.length < AT_ONCE) break;
    }
  }
}

const VERDICT_FIELD = 'verdict:';

function* ratingsIn(
  keyRing: KeyRing,
  { partition, answer }: { partition: number; answer: DeliveryId },
  hash: Readonly<Record<string, string>>,
  sinceMs: number,
): Generator<StoredFeedback> {
  const { platform = '', model = '', rule = '', conversation: id } = hash;
  const conversation = id === undefined ? undefined : { id: asConversationId(id), partition };
  for (const field of Object.keys(hash)) {
    if (!field.startsWith(VERDICT_FIELD)) continue;
    const rater = field.slice(VERDICT_FIELD.length);
    const atMs = Number(hash[`at:${rater}`] ?? 0);
    if (atMs < sinceMs) continue;
    const sealed = hash[`words:${rater}`] ?? '';
    const reasons = (hash[`reasons:${rater}`] ?? '').split(' ').filter((one) => one !== '');
    const words = wordsOf(keyRing, answer, sealed);
    yield { atMs, platform, answer, rater, verdict: hash[field] ?? '', reasons, model, rule, conversation, words };
  }
}

function wordsOf(keyRing: KeyRing, answer: DeliveryId, sealed: string): string {
  if (sealed === '') return '';
  const opened = tryOpen(() => keyRing.open(FEEDBACK_PURPOSE, answer, sealed));
  return opened.kind === 'opened' ? opened.value : '';
}
