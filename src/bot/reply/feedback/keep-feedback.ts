import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { FeedbackReason, FeedbackVerdict } from '../../domain/feedback.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../../domain/ids.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { feedbackKey, messageKey, ratedAnswersKey, ratedByKey } from '../../domain/partition-keys.ts';

/** Maximum raters of one answer; enough even in a group of thousands. */
const MAX_RATERS = 200;
/** Maximum characters of a rating's comment; longer than any platform's input field. */
const MAX_WORDS_CHARS = 2_000;
export const FEEDBACK_PURPOSE = 'feedback';
/** Fields per rater in an answer's hash, each followed by the rater's pseudonym. */
export const FIELDS_OF_RATER = ['verdict', 'reasons', 'words', 'said', 'at'] as const;

const keepScript = loadScript(import.meta.url, './scripts/keep-feedback.lua', {
  constants: { MAX_RATERS },
  keys: ['record', 'feedback', 'rated', 'ratedBy'],
  args: ['answer', 'platform', 'rater', 'verdict', 'reasons', 'words', 'said', 'lifeMs'],
  answer: { change: ['new', 'changed', 'detailed', 'withdrawn', 'same', 'full'] },
});

/** One person's rating of one answer. */
export interface Rating {
  partition: number;
  answer: DeliveryId;
  platform: PlatformName;
  personId: PersonId;
  verdict: FeedbackVerdict;
  /** Empty keeps the reasons given earlier with the same verdict. */
  reasons: readonly FeedbackReason[];
  words?: string;
}

export interface KeepFeedbackOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** Lifetime of a rating. Milliseconds. */
  lifeMs: number;
  /** Whether rating comments are stored. */
  keepsWords: boolean;
}

/**
 * Change made by a rating. `detailed`: same verdict, with more detail. `full`: the answer has the maximum number of raters;
 * nothing is stored.
 */
export type FeedbackChange = 'new' | 'changed' | 'detailed' | 'withdrawn' | 'same' | 'full';

/** Pseudonym of a person in stored ratings: it links one person's ratings and reveals nothing else. */
export function raterOf(keyRing: KeyRing, personId: PersonId): string {
  return keyRing.pseudonym('feedback', personId);
}

/** The same under every key of the ring. */
export function ratersOf(keyRing: KeyRing, personId: PersonId): string[] {
  return keyRing.pseudonyms('feedback', personId);
}

/** Keys and fields of one person's stored ratings in a partition, for erasure. */
export async function keysOfRatings(
  { redis, keyRing }: Pick<KeepFeedbackOptions, 'redis' | 'keyRing'>,
  partition: number,
  personId: PersonId,
): Promise<{ list: string; fields: { key: string; field: string }[] }> {
  const rater = raterOf(keyRing, personId);
  const list = ratedByKey(partition, rater);
  const answers = await redis.zrange(list, '0', '-1');
  const keys = answers.map((answer) => feedbackKey(partition, asDeliveryId(answer)));
  const fields = keys.flatMap((key) => FIELDS_OF_RATER.map((name) => ({ key, field: `${name}:${rater}` })));
  return { list, fields };
}

/**
 * Stores a rating together with the model and the policy rule of the answer (SECURITY.md feedback-kept). Safe to repeat.
 * @throws any error of the Redis connection
 */
export async function storeFeedback(options: KeepFeedbackOptions, rating: Rating): Promise<FeedbackChange> {
  const { redis, keyRing, lifeMs, keepsWords } = options;
  const { partition, answer, platform, personId, verdict } = rating;
  const rater = raterOf(keyRing, personId);
  const words = keepsWords ? (rating.words ?? '').slice(0, MAX_WORDS_CHARS) : '';
  const { change } = await keepScript.run(
    redis,
    {
      record: messageKey(partition, answer),
      feedback: feedbackKey(partition, answer),
      rated: ratedAnswersKey(partition),
      ratedBy: ratedByKey(partition, rater),
    },
    {
      ...{ answer, platform, rater, verdict, lifeMs },
      reasons: rating.reasons.join(' '),
      words: words === '' ? '' : keyRing.seal(FEEDBACK_PURPOSE, answer, words),
      said: words === '' ? '' : keyRing.pseudonym('feedback-words', words),
    },
  );
  return change;
}
