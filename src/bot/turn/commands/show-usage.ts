import { localize } from '../../../shared/text/texts.ts';
import type { NowMs } from '../../../shared/clock.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { readUsage } from '../conversation/usage-store.ts';
import { personIdOf } from '../../domain/conversation.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

/** /usage: this person's usage today and this month, in all chats of the platform. */
export async function showUsage(
  { redis, nowMs, timeZone }: { redis: RedisClient; nowMs: NowMs; timeZone: string },
  { newest, question: { language } }: TurnContext,
): Promise<Outcome> {
  const { today, thisMonth } = await readUsage(redis, personIdOf(newest, newest.sender.userId), { nowMs, timeZone });
  const text = localize(RECORD_TEXTS.usage, language, {
    questionsToday: today.questions,
    tokensToday: today.tokens,
    questionsThisMonth: thisMonth.questions,
    tokensThisMonth: thisMonth.tokens,
  });
  return { kind: 'command', text };
}
