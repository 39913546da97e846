import { inBackground } from '../shared/in-background.ts';
import { MINUTE_MS } from '../shared/clock.ts';
import type { ConversationView, FrameView, MessageView } from './api.ts';
import type { BrowserRequest, BrowserResult } from './browser/person-browser.ts';
import type { Frames } from './browser/frames.ts';
import { privateConversationId, groupConversationId } from './directory.ts';
import type { EventHub } from './event-hub.ts';
import { MessengerError } from './messenger-error.ts';
import { viewOf } from './stored-message.ts';
import type { BotConnections, DeliveryResult, MessengerSide, Protocol, Rating, RatingWhy, Saying } from './protocol.ts';
import type { AnswerTrace, MissedMessage, Violation } from './protocol-trace.ts';

/** What a person says; a text alone goes to their private chat. */
export interface Said {
  text: string;
  /** Image files; or ids of images that were uploaded. */
  images?: readonly (Buffer | string)[];
  /** Files of other kinds, by their names; or ids of files that were uploaded. */
  files?: readonly ({ name: string; bytes: Buffer } | string)[];
  /** A conversation's id, or `{ group }` with the group's id; the private chat unless told. */
  conversation?: string | { group: string };
  /** Id of the message that is quoted, or in whose thread the person replies. */
  quote?: string;
  /** Whether the bot's mention is put before the text. */
  mention?: boolean;
}

/** The messenger without its page: what people do in it, and what a test wants to know. */
export interface MessengerDriver {
  /** Sends a message as a person would; resolves once it is shown, before the bot has answered. */
  say(personId: string, said: string | Said): Promise<MessageView>;
  /**
   * The answer to a message once it is `final` or `failed` (a minute unless told).
   * @throws MessengerError `not_delivered` when the bot never took the message, `no_answer` when the time is over
   */
  waitForAnswer(messageId: string, options?: { timeoutMs?: number }): Promise<MessageView>;
  /** The answer as it is now; undefined while there is none. */
  answer(messageId: string): Promise<MessageView | undefined>;
  message(messageId: string): Promise<MessageView>;
  messages(personId: string, conversation?: Said['conversation']): Promise<MessageView[]>;
  conversations(personId: string): Promise<ConversationView[]>;
  /** Sends a new message as `copies` deliveries at once, all the very same, and shows the answer. */
  deliver(
    personId: string,
    said: string | Said,
    copies: number,
  ): Promise<{ message: MessageView; results: DeliveryResult[] }>;
  /** Delivers a message again, `copies` times at once; nothing is shown. */
  redeliver(messageId: string, copies?: number): Promise<DeliveryResult[]>;
  /** Polls and growth steps of a message's answer. */
  trace(messageId: string): AnswerTrace;
  /** The platform's rules that the bot broke. */
  violations(): readonly Violation[];
  /** Messages that fell into a gap between the bot's connections, where it is reached over such. */
  missed(): readonly MissedMessage[];
  /** Opens the private chat; the bot is told the first time on a day. Resolves once its welcome is shown. */
  enterChat(personId: string): Promise<void>;
  /** Presses "Stop" at a growing answer, where the app itself has that. */
  stop(personId: string, answerId: string): Promise<void>;
  /** Edits a message of one's own. */
  edit(personId: string, messageId: string, text: string): Promise<void>;
  /** Deletes a message of one's own. */
  remove(personId: string, messageId: string): Promise<void>;
  /**
   * Presses a button of a message: the one that has this id, that the bot calls so (its action id, value or key; `good` and `bad` are
   * thumbs), or that is labelled so. Resolves with the message as it is once the bot has taken it.
   * @throws MessengerError `not_found`, `bad_request` for one that cannot be pressed any more, `not_taken`
   */
  press(personId: string, messageId: string, button: string): Promise<MessageView>;
  /** Rates an answer by the thumbs that the app has: its own (WeCom), or those that the bot put there (Slack, which asks no `why`). */
  rate(personId: string, messageId: string, rating: Rating, why?: RatingWhy): Promise<MessageView>;
  openFrame(personId: string, url: string): Promise<FrameView>;
  /** The person's in-app browser without a frame: same user agent, cookies and redirects. */
  browse(personId: string, request: BrowserRequest): Promise<BrowserResult>;
  isBotReachable(): boolean;
  /** The connections that the bot holds, where it is reached over such. */
  readonly connections: BotConnections | undefined;
}

export interface DriverParts {
  side: MessengerSide;
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
    await amended?.told;
  };
  const sayingOf = async (personId: string, said: string | Said): Promise<Saying> => {
    const {
      text,
      images = [],
      files = [],
      conversation,
      quote,
      mention = false,
    } = typeof said === 'string' ? { text: said } : said;
    const imageIds = await Promise.all(
      images.map(async (image) => (typeof image === 'string' ? image : (await side.media.keep(image)).id)),
    );
    const fileIds = await Promise.all(
      files.map(async (file) =>
        typeof file === 'string' ? file : (await side.media.keepFile(file.name, file.bytes)).id,
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
    async say(personId, said) {
      return viewOf(await protocol.send(await sayingOf(personId, said)), personId);
    },
    waitForAnswer: (messageId, { timeoutMs = MINUTE_MS } = {}) =>
      waitForAnswer({ read, answer, hub: side.hub }, messageId, timeoutMs),
    answer,
    message: read,
    messages: (personId, conversation) => side.chatLog.messages(personId, conversationIdOf(personId, conversation)),
    conversations: (personId) => side.chatLog.conversations(personId),
    async deliver(personId, said, copies) {
      const question = await protocol.prepare(await sayingOf(personId, said));
      return { message: viewOf(question), results: await protocol.deliver(question, copies) };
    },
    redeliver: (messageId, copies = 1) => protocol.redeliver(messageId, copies),
    trace: (messageId) => side.trace.answer(messageId),
    violations: () => side.trace.violations,
    missed: () => side.trace.missedMessages,
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

function conversationIdOf(personId: string, conversation: Said['conversation']): string {
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
    // Which message is the answer, the protocol knows; every change in the conversation is a reason to ask.
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
    // What happened before the subscription.
    inBackground(lookAgain);
  });
}
