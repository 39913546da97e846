import { randomToken } from '../../shared/crypto/ids.ts';
import { languageOfText, localize } from '../../shared/text/texts.ts';
import { BackgroundTasks } from '../background-tasks.ts';
import type { Conversation } from '../directory.ts';
import { MessengerError } from '../messenger-error.ts';
import { failedMessage, readSaying } from '../person-message.ts';
import type { DeliveryResult, MessengerContext, UserMessage } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { BotTransport } from './bot-transport.ts';
import { mentionsBot } from './mentions-bot.ts';
import type { ResponseUrls } from './response-urls.ts';
import { readReply } from './read-reply.ts';
import type { ShownAnswers, StreamReply } from './shown-answers.ts';

/** The bot's commands in Chinese, typed without a slash. */
const CHINESE = '帮助|新对话|停止|重试|模型|思考|语言|用量|清除|导出|我是谁|登录|解绑';
const INSTRUCTION = new RegExp(`^(?:[/／]\\p{L}+|${CHINESE})[。.!！]?(?:\\s|$)`, 'u');

/**
 * Whether a message is a command, such as `/stop`, rather than a question; in a group the mention may precede or follow it.
 * WeCom does not document what its client does with a fourth message beside three open ones. Here commands are allowed, so
 * that a person who waits for answers can stop them.
 */
function isCommand(text: string, botName: string): boolean {
  const mention = `@${botName}`;
  const trimmed = text.trim();
  const said = trimmed.startsWith(mention)
    ? trimmed.slice(mention.length)
    : trimmed.endsWith(mention)
      ? trimmed.slice(0, -mention.length)
      : trimmed;
  return INSTRUCTION.test(said.trim());
}

export interface QuestionsParts {
  /** Shows the first response to a message and its continuation, if deliveries are answered in their response. */
  answers?: { open(question: StoredMessage, first: StreamReply): Promise<void> };
  shown: ShownAnswers;
  responseUrls: ResponseUrls;
}

/** People's messages on their way to the bot. */
export class Questions {
  readonly #side: MessengerContext;
  readonly #transport: BotTransport;
  readonly #parts: QuestionsParts;
  /** Deliveries. */
  readonly tasks: BackgroundTasks;

  constructor(side: MessengerContext, line: BotTransport, parts: QuestionsParts) {
    this.#side = side;
    this.#transport = line;
    this.#parts = parts;
    this.tasks = new BackgroundTasks(side.background);
  }

  /**
   * Shows a person's message and delivers it in the background if it is addressed to the bot: always in a private chat, in a
   * group only with a mention. @throws MessengerError `not_found`, `bad_request`
   */
  async send(saying: UserMessage): Promise<StoredMessage> {
    const question = await this.prepare(saying);
    if (question.state === 'sending') this.resume(question);
    return question;
  }

  /** Stores and shows a message without delivering it; the state `sending` marks it for delivery. */
  async prepare(saying: UserMessage): Promise<StoredMessage> {
    const { conversation, written } = await readSaying(this.#side, saying);
    // In WeCom a file is a separate message; in a group it reaches the bot only if a message to the bot quotes it.
    if (written.files && (written.files.length > 1 || saying.text !== '' || saying.imageIds.length > 0))
      throw new MessengerError('bad_request', 'A file must be sent as a separate message');
    const quoted = await this.#quoted(conversation, saying.quoteMessageId);
    const quote = quoted && { senderName: quoted.senderName, text: wordsOf(quoted) };
    const message: StoredMessage = { ...written, id: randomToken(16), quote };
    const prepared = this.#isForBot(conversation, message) ? await this.#enter(message, quoted) : message;
    await this.#side.chatLog.write(prepared);
    await this.#side.chatLog.markRead(message.sender, conversation.id);
    return prepared;
  }

  /** Resends a failed message as the same delivery. @throws MessengerError `not_found`, `bad_request` */
  async resend(personId: string, messageId: string): Promise<StoredMessage> {
    const failed = await failedMessage(this.#side, personId, messageId);
    // Its six minutes start again; its position in the conversation stays.
    const prepared = await this.#enter({ ...failed, atMs: this.#side.nowMs() });
    await this.#side.chatLog.write(prepared);
    if (prepared.state === 'sending') this.resume(prepared);
    return prepared;
  }

  /** Delivers in the background; also resumes a delivery that an earlier run left unfinished. */
  resume(question: StoredMessage): void {
    this.tasks.add(this.deliver(question, 1), 'a message could not be delivered');
  }

  /** Delivers a message with `copies` concurrent deliveries, and shows the bot's answer. @returns the result of each copy */
  async deliver(question: StoredMessage, copies: number): Promise<DeliveryResult[]> {
    const { client, payloads } = this.#transport;
    const payload = payloads.message(question);
    const results = await Promise.all(Array.from({ length: copies }, () => client.deliver(payload)));
    const result = results.find(({ kind }) => kind === 'reply') ?? results[0];
    if (result) await this.#conclude(question, result);
    return results;
  }

  /** Redelivers a message, and shows nothing. */
  async redeliver(messageId: string, copies: number): Promise<DeliveryResult[]> {
    const { client, payloads } = this.#transport;
    const payload = payloads.message(await this.#side.store.get(messageId));
    return Promise.all(Array.from({ length: copies }, () => client.callOnce(payload)));
  }

  async #enter(message: StoredMessage, quoted?: StoredMessage): Promise<StoredMessage> {
    const { bot, store } = this.#side;
    const entered =
      isCommand(message.text, bot.name) || this.#transport.interactions.tryEnter(message.sender, message.id);
    const delivery = message.delivery ?? {
      responseCode: await this.#parts.responseUrls.create(message),
      quoted: quoted && { text: quoted.text, imageIds: quoted.imageIds ?? [], fileIds: quoted.fileIds },
    };
    if (!entered)
      return {
        ...message,
        delivery,
        state: 'failed',
        error: localize(MESSENGER_TEXTS.waitForAnswers, languageOf(message)),
      };
    await store.markOpen(message.id);
    return { ...message, delivery, state: 'sending' };
  }

  async #conclude(question: StoredMessage, result: DeliveryResult): Promise<void> {
    if (result.kind === 'silent') {
      const sent: StoredMessage = { ...question, state: 'sent' };
      return this.#transport.client.answersLater ? this.#side.chatLog.write(sent, true) : this.#leave(sent);
    }
    if (result.kind === 'invalid') return this.#refuse(question, result.reason);
    if (result.kind !== 'reply') {
      const text = result.kind === 'refused' ? MESSENGER_TEXTS.botRefused : MESSENGER_TEXTS.botUnreachable;
      return this.#leave({ ...question, state: 'failed', error: localize(text, languageOf(question)) });
    }
    const reply = readReply(result.reply);
    if (reply.kind === 'refused') return this.#refuse(question, reply.reason);
    if (reply.kind === 'text') return this.#refuse(question, 'a text may only answer the entry into a chat');
    const sent: StoredMessage = { ...question, state: 'sent' };
    if (reply.kind === 'card') {
      await this.#leave(sent);
      await this.#parts.shown.showWhole(question, {
        text: reply.card.words,
        card: reply.card,
        quotes: true,
      });
      return;
    }
    await this.#side.chatLog.write(sent, true);
    await this.#parts.answers?.open(sent, reply);
  }

  async #refuse(question: StoredMessage, reason: string): Promise<void> {
    const { trace, chatLog } = this.#side;
    trace.recordViolation(reason, question.id);
    const error = localize(MESSENGER_TEXTS.answerRefused, languageOf(question), { reason });
    await chatLog.writeSystemLine(question.conversationId, error);
    await this.#leave({ ...question, state: 'failed', error });
  }

  async #leave(question: StoredMessage): Promise<void> {
    this.#transport.interactions.leave(question.sender, question.id);
    await this.#side.chatLog.write(question);
    await this.#side.store.markSettled(question.id);
  }

  #isForBot(conversation: Conversation, message: StoredMessage): boolean {
    return conversation.kind === 'private' || mentionsBot(message.text, this.#side.bot.name);
  }

  async #quoted(conversation: Conversation, messageId: string | undefined): Promise<StoredMessage | undefined> {
    if (messageId === undefined) return undefined;
    const quoted = await this.#side.store.get(messageId);
    if (quoted.conversationId !== conversation.id) throw new MessengerError('not_found', 'No such message');
    return quoted;
  }
}

function languageOf(message: StoredMessage): 'en' | 'zh' {
  return languageOfText(message.text);
}

/** Text for quoting a message; for a file, its name. */
function wordsOf({ text, files = [] }: Pick<StoredMessage, 'text' | 'files'>): string {
  return text === '' ? files.map(({ name }) => name).join(', ') : text;
}
