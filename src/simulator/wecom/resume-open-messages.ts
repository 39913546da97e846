import type { MessageStore } from '../message-store.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { Interactions } from './interactions.ts';
import type { Questions } from './questions.ts';

export interface ResumeParts {
  store: MessageStore;
  interactions: Interactions;
  questions: Questions;
  /** Resumes an answer that is still growing. */
  answers: { follow(answer: StoredMessage): void };
}

/**
 * Resumes the work of an earlier run: deliveries are retried with their msgid, and growing answers are polled again.
 * Messages older than six minutes end as they would have without the restart.
 */
export async function resumeOpenMessages(parts: ResumeParts): Promise<void> {
  for (const message of await parts.store.openMessages()) await resume(message, parts);
}

async function resume(message: StoredMessage, { store, interactions, questions, answers }: ResumeParts): Promise<void> {
  if (message.answer && message.state === 'streaming') {
    interactions.tryEnter(message.answer.person, message.answer.questionId);
    answers.follow(message);
  } else if (message.delivery && message.state === 'sending') {
    interactions.tryEnter(message.sender, message.id);
    questions.resume(message);
  } else {
    await store.noteSettled(message.id);
  }
}
