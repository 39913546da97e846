import { inBackground } from '../shared/in-background.ts';
import { MINUTE_MS } from '../shared/clock.ts';
import type { Language } from '../shared/text/texts.ts';
import type { ConversationView, FrameView, MessageView } from './api.ts';
import type { BrowserRequest, BrowserResult } from './browser/person-browser.ts';
import type { Frames } from './browser/frames.ts';
import { privateConversationId, groupConversationId } from './directory.ts';
import type { EventHub } from './event-hub.ts';
import { MessengerError } from './messenger-error.ts';
import { viewOf } from './stored-message.ts';
import type {
  BotConnections,
  DeliveryResult,
  MessengerContext,
  Protocol,
  Rating,
  RatingDetails,
  UserMessage,
} from './protocol.ts';
import type { AnswerTrace, MissedMessage, Violation } from './protocol-trace.ts';

/** A person's message; a plain text goes to their private chat. */
export interface MessageInput {
  text: string;
  /** Image files; or ids of uploaded images. */
  images?: readonly (Buffer | string)[];
  /** Other files, by name; or ids of uploaded files. */
  files?: readonly ({ name: string; bytes: Buffer } | string)[];
  /** A conversation's id, or `{ group }` with the group's id. Defaults to the private chat. */
  conversation?: string | { group: string };
  /** Id of the message to quote, or in whose thread to reply. */
  quote?: string;
  /** Whether to prepend a mention of the bot. */
  mention?: boolean;
}

/** The messenger without its page, for tests: user actions and inspection. */
export interface MessengerDriver {
  /** Sends a message as a person; resolves once it is shown, before the bot has answered. */
  send(personId: string, said: string | MessageInput): Promise<MessageView>;
  /**
   * The answer to a message once it is `final` or `failed`. Defaults to a limit of one minute.
   * @throws MessengerError `not_delivered` if the bot never accepted the message, `no_answer` after the time limit
   */
  waitForAnswer(messageId: string, options?: { timeoutMs?: number }): Promise<MessageView>;
  /** The current state of the answer; undefined if there is none. */
  answer(messageId: string): Promise<MessageView | undefined>;
  message(messageId: string): Promise<MessageView>;
  messages(personId: string, conversation?: MessageInput['conversation']): Promise<MessageView[]>;
  conversations(personId: string): Promise<ConversationView[]>;
  /** Sends a new message as `copies` identical concurrent deliveries, and shows the answer. */
  deliver(
    personId: string,
    said: string | MessageInput,
    copies: number,
  ): Promise<{ message: MessageView; results: DeliveryResult[] }>;
  /** Redelivers a message, with `copies` concurrent deliveries; nothing is shown. */
  redeliver(messageId: string, copies?: number): Promise<DeliveryResult[]>;
  /** Polls and intermediate contents of a message's answer. */
  trace(messageId: string): AnswerTrace;
  /** Platform rules that the bot violated. */
  violations(): readonly Violation[];
  /** Messages that were lost between the bot's connections, if it uses connections. */
  missed(): readonly MissedMessage[];
  /** Language of the person's page; undefined until one was opened. */
  languageOf(personId: string): Language | undefined;
  /** Opens the private chat; the bot is notified the first time on a day. Resolves once its welcome is shown. */
  enterChat(personId: string): Promise<void>;
  /** Presses "Stop" on a growing answer, if the app itself has such a button. */
  stop(personId: string, answerId: string): Promise<void>;
  /** Edits a person's own message. */
  edit(personId: string, messageId: string, text: string): Promise<void>;
  /** Deletes a person's own message. */
  remove(personId: string, messageId: string): Promise<void>;
  /**
   * Presses a button of a message: by its id, the bot's name for it (its action id, value or key; `good` and `bad` for
   * thumbs), or its label. Resolves with the message once the bot has accepted the press.
   * @throws MessengerError `not_found`, `bad_request` for a disabled button, `not_taken`
   */
  press(personId: string, messageId: string, button: string): Promise<MessageView>;
  /** Rates an answer with the app's thumbs: its own (WeCom), or those of the bot (Slack, which does not ask for `why`). */
  rate(personId: string, messageId: string, rating: Rating, why?: RatingDetails): Promise<MessageView>;
  openFrame(personId: string, url: string): Promise<FrameView>;
  /** The person's in-app browser without a frame: same user agent, cookies and redirects. */
  browse(personId: string, request: BrowserRequest): Promise<BrowserResult>;
  isBotReachable(): boolean;
  /** The bot's connections, if it uses connections. */
  readonly connections: BotConnections | undefined;
}

export interface DriverParts {
  side: MessengerContext;
  protocol: Protocol;
  frames: Frames;
}

export function createDriver({ side, protocol, frames }: DriverParts): MessengerDriver {
  const read = (id: string) => side.store.get(id).then((message) => viewOf(message));
  const answer = async (messageId: string) => {
    const found = await protocol.answerTo(messageId);
    return found && viewOf(found);
  };
  const amend = async (personId: string, messageId: string, text: string | undefined) => {
    const amended = await protocol.amend?.(personId, messageId, text);
    await amended?.notification;
  };
  const toUserMessage = async (personId: string, said: string | MessageInput): Promise<UserMessage> => {
    const {
      text,
      images = [],
      files = [],
      conversation,
      quote,
      mention = false,
    } = typeof said === 'string' ? { text: said } : said;
    const imageIds = await Promise.all(
      images.map(async (image) => (typeof image === 'string' ? image : (await side.media.saveImage(image)).id)),
    );
    const fileIds = await Promise.all(
      files.map(async (file) =>
        typeof file === 'string' ? file : (await side.media.saveFile(file.name, file.bytes)).id,
      ),
    );
    return {
      person: personId,
      conversationId: conversationIdOf(personId, conversation),
      fileIds,
      text: mention ? `@${side.bot.name} ${text}` : text,
      imageIds,
      quoteMessageId: quote,
    };
  };
  return {
    async send(personId, said) {
      return viewOf(await protocol.send(await toUserMessage(personId, said)), personId);
    },
    waitForAnswer: (messageId, { timeoutMs = MINUTE_MS } = {}) =>
      waitForAnswer({ read, answer, hub: side.hub }, messageId, timeoutMs),
    answer,
    message: read,
    messages: (personId, conversation) => side.chatLog.messages(personId, conversationIdOf(personId, conversation)),
    conversations: (personId) => side.chatLog.conversations(personId),
    async deliver(personId, said, copies) {
      const question = await protocol.prepare(await toUserMessage(personId, said));
      return { message: viewOf(question), results: await protocol.deliver(question, copies) };
    },
    redeliver: (messageId, copies = 1) => protocol.redeliver(messageId, copies),
    trace: (messageId) => side.trace.answer(messageId),
    violations: () => side.trace.violations,
    missed: () => side.trace.missedMessages,
    languageOf: (personId) => side.directory.languageOf(personId),
    enterChat: (personId) => protocol.enterChat(personId),
    stop: (personId, answerId) => protocol.stop(personId, answerId),
    edit: (personId, messageId, text) => amend(personId, messageId, text),
    remove: (personId, messageId) => amend(personId, messageId, undefined),
    press: async (personId, messageId, button) => viewOf(await protocol.press(personId, messageId, button), personId),
    rate: async (personId, messageId, rating, why) =>
      viewOf(await protocol.rate(personId, messageId, rating, why), personId),
    openFrame: (personId, url) => frames.open(personId, url),
    browse: (personId, request) => frames.browserOf(side.directory.person(personId).id).open(request),
    isBotReachable: () => side.bot.isReachable(),
    connections: protocol.connections,
  };
}

function conversationIdOf(personId: string, conversation: MessageInput['conversation']): string {
  if (conversation === undefined) return privateConversationId(personId);
  return typeof conversation === 'string' ? conversation : groupConversationId(conversation.group);
}

interface Looking {
  read(id: string): Promise<MessageView>;
  answer(messageId: string): Promise<MessageView | undefined>;
  hub: EventHub;
}

async function waitForAnswer(
  { read, answer, hub }: Looking,
  messageId: string,
  timeoutMs: number,
): Promise<MessageView> {
  const question = await read(messageId);
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      unsubscribe();
      settle();
    };
    const look = (message: MessageView | undefined, isAnswer: boolean) => {
      if (isAnswer && (message?.state === 'final' || message?.state === 'failed')) finish(() => resolve(message));
      else if (message?.id === messageId && message.state === 'failed') {
        finish(() => reject(new MessengerError('not_delivered', message.error ?? 'The message was not delivered')));
      }
    };
    // Only the protocol knows which message is the answer, so it is asked after every change in the conversation.
    const lookAgain = () =>
      Promise.all([read(messageId), answer(messageId)]).then(([asked, answered]) => {
        look(asked, false);
        look(answered, true);
      }, reject);
    const timer = setTimeout(
      () => finish(() => reject(new MessengerError('no_answer', `No finished answer within ${timeoutMs} ms`))),
      timeoutMs,
    );
    const unsubscribe = hub.subscribe(question.sender, (event) => {
      if (event.name === 'message' && event.data.conversationId === question.conversationId) inBackground(lookAgain);
    });
    // In case the answer was complete before the subscription.
    inBackground(lookAgain);
  });
}
