import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { FeedbackReason, FeedbackVerdict } from '../../domain/feedback.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../../domain/ids.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { feedbackKey, messageKey, ratedAnswersKey, ratedByKey } from '../../domain/partition-keys.ts';

/** Of one answer; in a group of thousands so many say more than enough. */
const MOST_RATERS = 200;
/** Longer than any platform's own box for it. */
const MOST_WORDS_CHARS = 2_000;
export const FEEDBACK_PURPOSE = 'feedback';
/** Each stands in an answer's hash with the rater's pseudonym behind it. */
const FIELDS_OF_RATER = ['verdict', 'reasons', 'words', 'said', 'at'] as const;

const keepScript = loadScript(import.meta.url, './scripts/keep-feedback.lua', {
  constants: { MOST_RATERS },
  keys: ['record', 'feedback', 'rated', 'ratedBy'],
  args: ['answer', 'platform', 'rater', 'verdict', 'reasons', 'words', 'said', 'lifeMs'],
  answer: { change: ['new', 'changed', 'detailed', 'withdrawn', 'same', 'full'] },
});

/** Who rated which answer, where, and what they think. */
export interface Rating {
  partition: number;
  answer: DeliveryId;
  platform: PlatformName;
  personId: PersonId;
  verdict: FeedbackVerdict;
  /** None leaves those that were told before with the same verdict. */
  reasons: readonly FeedbackReason[];
  words?: string;
}

export interface KeepFeedbackOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** How long it is kept. Milliseconds. */
  lifeMs: number;
  /** Whether what people write about an answer is kept. */
  keepsWords: boolean;
}

/** What a rating changed. `detailed`: the verdict was known, and more is said of it. `full`: so many have rated the answer that nothing more is kept. */
export type FeedbackChange = 'new' | 'changed' | 'detailed' | 'withdrawn' | 'same' | 'full';

/** How a person is named in what is kept of ratings: says that two are one person's, and nothing else. */
export function raterOf(keyRing: KeyRing, personId: PersonId): string {
  return keyRing.pseudonym('feedback', personId);
}

/** What of one person's ratings in a partition's chats lies where, for whoever forgets them: fields of hashes, and the list of them. */
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
 * Keeps what somebody thinks of an answer, with the model and the policy's rule that gave it (SECURITY.md feedback-kept). Safe to repeat.
 * @throws whatever the connection throws when Redis is away
 */
export async function keepFeedback(options: KeepFeedbackOptions, rating: Rating): Promise<FeedbackChange> {
  const { redis, keyRing, lifeMs, keepsWords } = options;
  const { partition, answer, platform, personId, verdict } = rating;
  const rater = raterOf(keyRing, personId);
  const words = keepsWords ? (rating.words ?? '').slice(0, MOST_WORDS_CHARS) : '';
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
