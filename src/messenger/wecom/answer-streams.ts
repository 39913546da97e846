import { setTimeout as pause } from 'node:timers/promises';
import { languageOfText, say } from '../../base/texts.ts';
import { imageUrl } from '../media-store.ts';
import type { DeliveryResult, MessengerSide } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { BotLine } from './bot-line.ts';
import { readReply, splitThinking, type BotReply } from './read-reply.ts';

type StreamReply = Extract<BotReply, { kind: 'stream' }>;

/** The bot's growing answers: polled about once a second until they are finished or the six minutes are over. */
export class AnswerStreams {
  readonly #side: MessengerSide;
  readonly #line: BotLine;
  readonly #followed = new Map<string, Promise<void>>();

  constructor(side: MessengerSide, line: BotLine) {
    this.#side = side;
    this.#line = line;
  }

  /** Shows the first answer to a message, and follows it in the background. */
  async open(question: StoredMessage, first: StreamReply): Promise<void> {
    const { nowMs, timing, bot, store } = this.#side;
    const { feedbackId } = first;
    const empty: StoredMessage = {
      id: answerIdOf(question.id),
      conversationId: question.conversationId,
      sender: 'bot',
      senderName: bot.name,
      state: 'streaming',
      text: '',
      images: [],
      atMs: nowMs(),
      canRate: feedbackId === undefined ? undefined : true,
      answer: {
        streamId: first.id,
        questionId: question.id,
        person: question.sender,
        untilMs: question.atMs + timing.streamLifeMs,
        feedbackId,
      },
    };
    await store.noteOpen(empty.id);
    await store.noteSettled(question.id);
    const shown = await this.#show(empty, first, false);
    if (shown.state === 'streaming') this.follow(shown);
  }

  /** Polls an unfinished answer in the background; also one that an earlier run left. */
  follow(answer: StoredMessage): void {
    if (this.#followed.has(answer.id)) return;
    const following = this.#follow(answer)
      .catch((error: unknown) => {
        this.#side.background.failed(error, 'an answer could not be followed');
      })
      .finally(() => this.#followed.delete(answer.id));
    this.#followed.set(answer.id, following);
  }

  /** Resolves once nothing is polled any more: every answer is whole, or the signal was aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.#followed.values());
  }

  async #follow(start: StoredMessage): Promise<void> {
    const { timing, nowMs, background, trace } = this.#side;
    const { client, payloads } = this.#line;
    let answer = start;
    while (answer.state === 'streaming') {
      await pause(timing.pollEveryMs, undefined, { signal: background.signal });
      if (nowMs() >= (answer.answer?.untilMs ?? 0)) return this.#runOut(answer);
      const result = await client.callOnce(payloads.poll(answer));
      trace.polled(answer.answer?.questionId ?? '');
      answer = await this.#apply(answer, result);
    }
  }

  async #apply(answer: StoredMessage, result: DeliveryResult): Promise<StoredMessage> {
    // A failed or empty poll is not shown: the platform asks again until the time is over.
    if (result.kind !== 'reply') return answer;
    const reply = readReply(result.reply);
    if (reply.kind === 'stream') {
      if (reply.id !== answer.answer?.streamId) return this.#fail(answer, 'the stream id changed');
      return this.#show(answer, reply, true);
    }
    return this.#fail(answer, reply.kind === 'refused' ? reply.reason : 'only a stream may answer a poll');
  }

  async #show(answer: StoredMessage, reply: StreamReply, isKnown: boolean): Promise<StoredMessage> {
    const { chatLog, trace } = this.#side;
    const { text, ...apart } = splitThinking(reply.content);
    trace.shown(answer.answer?.questionId ?? '', reply.content);
    const isSame = text === answer.text && apart.thinking === answer.thinking && apart.note === answer.note;
    if (isKnown && !reply.isFinished && isSame) return answer;
    const { thinking: _thinking, note: _note, ...rest } = answer;
    const shown: StoredMessage = {
      ...rest,
      ...apart,
      text,
      images: await this.#keepImages(reply.images),
      state: reply.isFinished ? 'final' : 'streaming',
    };
    if (reply.isFinished) await this.#settle(shown);
    await chatLog.write(shown, isKnown && !reply.isFinished);
    return shown;
  }

  async #keepImages(images: readonly Buffer[]): Promise<StoredMessage['images']> {
    return Promise.all(
      images.map(async (bytes) => ({ url: imageUrl((await this.#side.media.keep(bytes)).id), alt: '' })),
    );
  }

  /** The bot never finished: the platform shows a sentence of its own (PLATFORM_FACTS.md wecom-streams). */
  async #runOut(answer: StoredMessage): Promise<void> {
    await this.#end(answer, 'the answer was not finished within its six minutes', (language) =>
      say(MESSENGER_TEXTS.answerUnfinished, language),
    );
  }

  async #fail(answer: StoredMessage, reason: string): Promise<StoredMessage> {
    return this.#end(answer, reason, (language) => say(MESSENGER_TEXTS.answerRefused, language, { reason }));
  }

  async #end(answer: StoredMessage, reason: string, note: (language: 'en' | 'zh') => string): Promise<StoredMessage> {
    const { chatLog, trace, nowMs, store } = this.#side;
    const questionId = answer.answer?.questionId ?? '';
    trace.violated({ questionId, reason, atMs: nowMs() });
    const question = await store.get(questionId).catch(() => undefined);
    const error = note(languageOfText(question?.text ?? ''));
    const failed: StoredMessage = { ...answer, state: 'failed', error };
    await this.#settle(failed);
    await chatLog.writeSystemLine(answer.conversationId, error);
    await chatLog.write(failed);
    return failed;
  }

  async #settle(answer: StoredMessage): Promise<void> {
    this.#line.interactions.leave(answer.answer?.person ?? '', answer.answer?.questionId ?? '');
    await this.#side.store.noteSettled(answer.id);
  }
}

/** The id of the message that answers a question. */
export function answerIdOf(questionId: string): string {
  return `answer-${questionId}`;
}
