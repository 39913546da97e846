import type { StoredMessage } from '../stored-message.ts';
import type { AnswerStreams } from './answer-streams.ts';
import type { PlatformSide } from './platform-side.ts';
import type { Questions } from './questions.ts';

/**
 * Takes up what an earlier run left: deliveries are repeated with their msgid, growing answers are polled further.
 * Whatever is older than its six minutes ends as it would have ended without the restart.
 */
export async function resumeOpenMessages(
  side: PlatformSide,
  { questions, answers }: { questions: Questions; answers: AnswerStreams },
): Promise<void> {
  for (const message of await side.store.openMessages()) await resume(message, { side, questions, answers });
}

async function resume(
  message: StoredMessage,
  { side, questions, answers }: { side: PlatformSide; questions: Questions; answers: AnswerStreams },
): Promise<void> {
  if (message.answer && message.state === 'streaming') {
    side.interactions.tryEnter(message.answer.person, message.answer.questionId);
    answers.follow(message);
  } else if (message.delivery && message.state === 'sending') {
    side.interactions.tryEnter(message.sender, message.id);
    questions.resume(message);
  } else {
    await side.store.noteSettled(message.id);
  }
}
