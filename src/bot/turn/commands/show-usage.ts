import { localize } from '../../../shared/text/texts.ts';
import type { NowMs } from '../../../shared/clock.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { readUsage } from '../conversation/usage-store.ts';
import { personIdOf } from '../../domain/conversation.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import type { BudgetStore } from '../budgets/budget-store.ts';
import { ownerOf } from '../budgets/spending.ts';
import { tellLeft } from '../budgets/tell-budget.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import { voiceOf } from '../translate.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

/** /usage: this person's usage today and this month, in all chats of the platform, and what is left of their budgets. */
export async function showUsage(
  { redis, nowMs, timeZone }: { redis: RedisClient; nowMs: NowMs; timeZone: string },
  { gate, budgets }: { gate: Pick<SignInGate, 'judge'>; budgets: BudgetStore },
  context: TurnContext,
): Promise<Outcome> {
  const { newest, question } = context;
  const { language } = question;
  const { today, thisMonth } = await readUsage(redis, personIdOf(newest, newest.sender.userId), { nowMs, timeZone });
  const text = localize(RECORD_TEXTS.usage, language, {
    questionsToday: today.questions,
    tokensToday: today.tokens,
    questionsThisMonth: thisMonth.questions,
    tokensThisMonth: thisMonth.tokens,
  });
  const judged = await gate.judge(context);
  if (typeof judged === 'string' || 'outcome' in judged) return { kind: 'command', text };
  const { account } = judged;
  const voice = voiceOf(context);
  const models: readonly string[] = judged.models;
  const shown = judged.budgets.filter(({ of, code }) => of !== 'model' || models.includes(code));
  const left = shown.map(async (budget) => {
    const owner = ownerOf(budget, { account, newest });
    return tellLeft(budget, await budgets.left({ ...owner, limits: budget.limits }), voice);
  });
  return { kind: 'command', text: [text, ...(await Promise.all(left)).flat()].join('\n\n') };
}
