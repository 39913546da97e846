import { say } from '../../base/texts.ts';
import type { UsageStore } from '../../conversation/usage-store.ts';
import { personIdOf } from '../../platforms/conversation-key.ts';
import { RECORD_TEXTS } from '../../texts/record-texts.ts';
import type { TurnScene } from '../run-turn.ts';
import type { Outcome } from '../turn-types.ts';

/** /usage: how much this person asked today and this month, in all chats of the platform. */
export async function showUsage(usage: UsageStore, { newest, question: { language } }: TurnScene): Promise<Outcome> {
  const { today, thisMonth } = await usage.read(personIdOf(newest, newest.sender.userId));
  const text = say(RECORD_TEXTS.usage, language, {
    questionsToday: today.questions,
    tokensToday: today.tokens,
    questionsThisMonth: thisMonth.questions,
    tokensThisMonth: thisMonth.tokens,
  });
  return { kind: 'command', text };
}
