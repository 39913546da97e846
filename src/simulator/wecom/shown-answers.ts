import { randomToken } from '../../shared/crypto/ids.ts';
import { languageOfText, localize } from '../../shared/text/texts.ts';
import { imageUrl } from '../media-store.ts';
import type { MessengerContext } from '../protocol.ts';
import { isLineComplete, type StoredMessage } from '../stored-message.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { Interactions } from './interactions.ts';
import type { Card } from './read-card.ts';
import { splitThinking, type StreamSnapshot } from './read-reply.ts';
import { TaskIds, withCard } from './shown-cards.ts';

export type StreamReply = StreamSnapshot;

/** A complete message of the bot. */
export interface WholeMessage {
  text: string;
  images?: readonly Buffer[];
  feedbackId?: string;
  /** Shown instead of the text. */
  card?: Card;
  /** Whether it quotes, in a group, the message that it answers. */
  quotes?: true;
}

/** The bot's answers as people see them, over either transport: growing, finished, or ended by the platform. */
export class ShownAnswers {
  readonly #side: MessengerContext;
  readonly #interactions: Interactions;
  readonly #taskIds = new TaskIds();

  constructor(side: MessengerContext, interactions: Interactions) {
    this.#side = side;
    this.#interactions = interactions;
  }

  /** Shows the first snapshot of a stream. @param untilMs time at which it must stop growing */
  async open(question: StoredMessage, first: StreamReply, untilMs: number, id: string): Promise<StoredMessage> {
    const { store } = this.#side;
    const empty = this.#message(question, id, { text: '', feedbackId: first.feedbackId });
    await store.markOpen(id);
    await store.markSettled(question.id);
    const growing: StoredMessage = {
      ...empty,
      state: 'streaming',
      answer: { ...partOf(question, untilMs, first.feedbackId), streamId: first.id },
    };
    return this.show(growing, first, false);
  }

  /** Shows a new snapshot of a stream. @param isKnown whether it was shown before */
  async show(answer: StoredMessage, reply: StreamReply, isKnown: boolean): Promise<StoredMessage> {
    const { chatLog, trace } = this.#side;
    const { text, ...apart } = splitThinking(reply.content);
    const questionId = answer.answer?.questionId ?? '';
    // Messages beside the answer are not steps of its growth.
    if (answer.id === answerIdOf(questionId)) trace.recordSnapshot(questionId, reply.content);
    const isCardKnown = reply.card === undefined || answer.cards !== undefined;
    const isSame =
      isCardKnown && text === answer.text && apart.thinking === answer.thinking && apart.note === answer.note;
    if (isKnown && !reply.isFinished && isSame) return answer;
    const { thinking: _thinking, note: _note, ...rest } = answer;
    const worded: StoredMessage = {
      ...rest,
      ...apart,
      text,
      images: await this.#keepImages(reply.images),
      state: reply.isFinished ? 'final' : 'streaming',
    };
    const shown = reply.card ? this.#carded(worded, { card: reply.card, isAlone: false }) : worded;
    if (reply.isFinished) await this.settle(shown);
    await chatLog.write(shown, isKnown && !reply.isFinished && isLineComplete(answer));
    return shown;
  }

  /** Shows a complete message that belongs to a question. Defaults to a message beside the question's answer. */
  async showWhole(question: StoredMessage, whole: WholeMessage, id = laterId()): Promise<StoredMessage> {
    const { chatLog, trace, nowMs, directory } = this.#side;
    const isQuoting = whole.quotes === true && directory.conversation(question.conversationId).kind === 'group';
    const worded: StoredMessage = {
      ...this.#message(question, id, whole),
      images: await this.#keepImages(whole.images ?? []),
      quote: isQuoting ? { senderName: question.senderName, text: question.text } : undefined,
      answer: { ...partOf(question, nowMs(), whole.feedbackId), streamId: '' },
    };
    const shown = whole.card ? this.#carded(worded, { card: whole.card, isAlone: true }) : worded;
    if (id === answerIdOf(question.id)) trace.recordSnapshot(question.id, whole.text);
    await chatLog.write(shown);
    return shown;
  }

  /** Shows a message that belongs to no question. */
  showOwn(conversationId: string, whole: WholeMessage, id: string): Promise<StoredMessage> {
    return this.showWhole(nobodysIn(conversationId, this.#side.nowMs()), whole, id);
  }

  /** Shows a welcome card: unobtrusive like a welcome line, and not an answer. */
  async welcome(conversationId: string, card: Card): Promise<void> {
    const question = nobodysIn(conversationId, this.#side.nowMs());
    const worded = this.#message(question, `welcome-${randomToken(12)}`, { text: card.words });
    const shown = this.#carded({ ...worded, sender: 'system', senderName: '' }, { card, isAlone: true });
    await this.#side.chatLog.write(shown);
  }

  /** The bot did not finish in time: the platform shows its own sentence (PLATFORM_FACTS.md wecom-streams). */
  async expire(answer: StoredMessage): Promise<StoredMessage> {
    return this.#end(answer, 'the answer was not finished within its six minutes', (language) =>
      localize(MESSENGER_TEXTS.answerUnfinished, language),
    );
  }

  async fail(answer: StoredMessage, reason: string): Promise<StoredMessage> {
    return this.#end(answer, reason, (language) => localize(MESSENGER_TEXTS.answerRefused, language, { reason }));
  }

  /** Marks an answer as settled: nothing more follows. */
  async settle(answer: StoredMessage): Promise<void> {
    this.#interactions.leave(answer.answer?.person ?? '', answer.answer?.questionId ?? '');
    await this.#side.store.markSettled(answer.id);
  }

  /** A message keeps its first card; a card's `task_id` must be unique. */
  #carded(message: StoredMessage, { card, isAlone }: { card: Card; isAlone: boolean }): StoredMessage {
    const violated = (reason: string) => this.#side.trace.recordViolation(reason, message.answer?.questionId);
    if (message.cards) {
      if (JSON.stringify(message.cards.all) !== JSON.stringify(card.sent)) violated('a second card for one message');
      return message;
    }
    if (this.#taskIds.take(card.taskId, message.id)) return withCard(message, { card, isAlone });
    violated('the task_id is another card’s');
    return message;
  }

  #message(question: StoredMessage, id: string, { text, feedbackId }: WholeMessage): StoredMessage {
    const { nowMs, bot } = this.#side;
    return {
      id,
      conversationId: question.conversationId,
      sender: 'bot',
      senderName: bot.name,
      state: 'final',
      text,
      images: [],
      atMs: nowMs(),
      canRate: feedbackId === undefined ? undefined : true,
    };
  }

  async #end(answer: StoredMessage, reason: string, note: (language: 'en' | 'zh') => string): Promise<StoredMessage> {
    const { chatLog, trace, store } = this.#side;
    const questionId = answer.answer?.questionId ?? '';
    trace.recordViolation(reason, questionId);
    const question = await store.get(questionId).catch(() => undefined);
    const error = note(languageOfText(question?.text ?? ''));
    const failed: StoredMessage = { ...answer, state: 'failed', error };
    await this.settle(failed);
    await chatLog.writeSystemLine(answer.conversationId, error);
    await chatLog.write(failed);
    return failed;
  }

  async #keepImages(images: readonly Buffer[]): Promise<StoredMessage['images']> {
    return Promise.all(
      images.map(async (bytes) => ({ url: imageUrl((await this.#side.media.saveImage(bytes)).id), alt: '' })),
    );
  }
}

/** Id of the message that answers a question. */
export function answerIdOf(questionId: string): string {
  return `answer-${questionId}`;
}

function laterId(): string {
  return `later-${randomToken(12)}`;
}

/** Question id for messages that answer none. */
function nobodysIn(conversationId: string, atMs: number): StoredMessage {
  return { id: '', conversationId, sender: '', senderName: '', state: 'sent', text: '', images: [], atMs };
}

function partOf(question: StoredMessage, untilMs: number, feedbackId: string | undefined) {
  return { questionId: question.id, person: question.sender, untilMs, feedbackId };
}
