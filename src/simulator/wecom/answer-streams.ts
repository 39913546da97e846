import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryResult, MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { CallbackPayloads } from './callback-payload.ts';
import type { DeliveryClient } from './bot-transport.ts';
import { readReply } from './read-reply.ts';
import { answerIdOf, type ShownAnswers, type StreamReply } from './shown-answers.ts';

export interface AnswerStreamsParts {
  client: Pick<DeliveryClient, 'callOnce'>;
  payloads: CallbackPayloads;
  shown: ShownAnswers;
}

/** The bot's growing answers: polled about once a second until they are finished or the six minutes have passed. */
export class AnswerStreams {
  readonly #side: MessengerContext;
  readonly #parts: AnswerStreamsParts;
  readonly #followed = new Map<string, Promise<void>>();

  constructor(side: MessengerContext, parts: AnswerStreamsParts) {
    this.#side = side;
    this.#parts = parts;
  }

  /** Shows the first response to a message, and follows the answer in the background. */
  async open(question: StoredMessage, first: StreamReply): Promise<void> {
    const untilMs = question.atMs + this.#side.timing.streamLifeMs;
    const shown = await this.#parts.shown.open(question, first, untilMs, answerIdOf(question.id));
    if (shown.state === 'streaming') this.follow(shown);
  }

  /** Polls an unfinished answer in the background, including one from an earlier run. */
  follow(answer: StoredMessage): void {
    if (this.#followed.has(answer.id)) return;
    const following = this.#follow(answer)
      .catch((error: unknown) => {
        this.#side.background.failed(error, 'an answer could not be polled');
      })
      .finally(() => this.#followed.delete(answer.id));
    this.#followed.set(answer.id, following);
  }

  /** Resolves once nothing is polled: every answer is complete, or the signal was aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.#followed.values());
  }

  async #follow(start: StoredMessage): Promise<void> {
    const { timing, nowMs, background, trace } = this.#side;
    const { client, payloads, shown } = this.#parts;
    let answer = start;
    while (answer.state === 'streaming') {
      await pause(timing.pollEveryMs, undefined, { signal: background.signal });
      if (nowMs() >= (answer.answer?.untilMs ?? 0)) {
        await shown.expire(answer);
        return;
      }
      const result = await client.callOnce(payloads.poll(answer));
      trace.recordPoll(answer.answer?.questionId ?? '');
      answer = await this.#apply(answer, result);
    }
  }

  async #apply(answer: StoredMessage, result: DeliveryResult): Promise<StoredMessage> {
    const { shown } = this.#parts;
    // A failed or empty poll is not shown: the platform polls again until the time limit.
    if (result.kind !== 'reply') return answer;
    const reply = readReply(result.reply);
    if (reply.kind === 'stream') {
      if (reply.id !== answer.answer?.streamId) return shown.fail(answer, 'the stream id changed');
      return shown.show(answer, reply, true);
    }
    return shown.fail(answer, reply.kind === 'refused' ? reply.reason : 'only a stream may answer a poll');
  }
}
