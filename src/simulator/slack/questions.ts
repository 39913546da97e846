import { languageOfText, localize } from '../../shared/text/texts.ts';
import { BackgroundTasks } from '../background-tasks.ts';
import type { Conversation } from '../directory.ts';
import { MessengerError } from '../messenger-error.ts';
import { failedMessage, readSaying } from '../person-message.ts';
import type { DeliveryResult, MessengerContext, UserMessage } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { EventClient } from './event-client.ts';
import type { EventPayloads } from './event-payload.ts';
import { threadTsOf, threadView } from './threads.ts';
import { BOT_USER_ID, channelIdOf, messageIdOf, type TsClock } from './workspace.ts';
import { writtenText } from './written-text.ts';

export interface QuestionParts {
  client: EventClient;
  payloads: EventPayloads;
  clock: TsClock;
}

/** People's messages on their way to the bot. They appear in the channel immediately, whether or not the bot is notified. */
export class Questions {
  readonly #side: MessengerContext;
  readonly #parts: QuestionParts;
  /** Deliveries. */
  readonly tasks: BackgroundTasks;

  constructor(side: MessengerContext, parts: QuestionParts) {
    this.#side = side;
    this.#parts = parts;
    this.tasks = new BackgroundTasks(side.background);
  }

  /** @throws MessengerError `not_found`, `bad_request` */
  async send(saying: UserMessage): Promise<StoredMessage> {
    const message = await this.prepare(saying);
    this.deliverInBackground(message);
    return message;
  }

  async prepare(saying: UserMessage): Promise<StoredMessage> {
    const { chatLog, store } = this.#side;
    const { conversation, written } = await readSaying(this.#side, saying);
    const root = await this.#threadRoot(conversation, saying.quoteMessageId);
    const ts = this.#parts.clock.next();
    const message: StoredMessage = {
      ...written,
      id: messageIdOf(channelIdOf(conversation), ts),
      thread: root && threadView(root),
      slack: { ts, threadTs: root?.slack?.ts },
    };
    await store.markOpen(message.id);
    await store.setPrompts(conversation.id, undefined);
    await chatLog.write(message);
    await chatLog.markRead(message.sender, conversation.id);
    return message;
  }

  /** @throws MessengerError `not_found`, `bad_request` */
  async resend(personId: string, messageId: string): Promise<StoredMessage> {
    const { store, chatLog } = this.#side;
    const again: StoredMessage = { ...(await failedMessage(this.#side, personId, messageId)), state: 'sent' };
    await store.markOpen(again.id);
    await chatLog.write(again);
    this.deliverInBackground(again);
    return again;
  }

  /** Notifies the bot of a message, with Slack's retries. */
  async deliver(message: StoredMessage, copies: number): Promise<DeliveryResult[]> {
    const { client, payloads } = this.#parts;
    const events = await payloads.message(message);
    const all = Array.from({ length: copies }, () => events).flat();
    const results = await Promise.all(all.map((event) => client.deliver(event)));
    if (!results.some(({ kind }) => kind === 'silent') && this.#isForBot(message)) await this.#fail(message, results);
    await this.#side.store.markSettled(message.id);
    return results;
  }

  async redeliver(messageId: string, copies: number): Promise<DeliveryResult[]> {
    const { client, payloads } = this.#parts;
    const events = await payloads.message(await this.#side.store.get(messageId));
    const all = Array.from({ length: copies }, () => events).flat();
    return Promise.all(all.map((event) => client.deliverOnce(event)));
  }

  /** Also resumes a delivery that an earlier run left unfinished. */
  deliverInBackground(message: StoredMessage): void {
    this.tasks.add(this.deliver(message, 1), 'a message could not be delivered');
  }

  /** Slack shows no such error. The messenger does, because it helps people who test a bot. */
  async #fail(message: StoredMessage, results: readonly DeliveryResult[]): Promise<void> {
    const isRefused = results.some(({ kind }) => kind === 'refused');
    const text = isRefused ? MESSENGER_TEXTS.botRefused : MESSENGER_TEXTS.botUnreachable;
    const error = localize(text, languageOfText(message.text));
    await this.#side.chatLog.write({ ...message, state: 'failed', error });
  }

  #isForBot(message: StoredMessage): boolean {
    const isPrivate = this.#side.directory.conversation(message.conversationId).kind === 'private';
    return isPrivate || writtenText(message.text, this.#side).includes(`<@${BOT_USER_ID}>`);
  }

  async #threadRoot(conversation: Conversation, messageId: string | undefined): Promise<StoredMessage | undefined> {
    if (messageId === undefined) return undefined;
    const { store } = this.#side;
    const replied = await store.get(messageId);
    const threadTs = threadTsOf(replied);
    if (replied.conversationId !== conversation.id || threadTs === undefined)
      throw new MessengerError('not_found', 'No such message');
    return replied.slack?.threadTs === undefined
      ? replied
      : store.get(messageIdOf(channelIdOf(conversation), threadTs));
  }
}
