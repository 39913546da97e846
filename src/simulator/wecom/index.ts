import { createHash, createSecretKey } from 'node:crypto';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, Protocol, ProtocolFactory, ProtocolOptions } from '../protocol.ts';
import { ShortLivedSecrets } from '../short-lived-secrets.ts';
import type { StoredMessage } from '../stored-message.ts';
import { AnswerStreams } from './answer-streams.ts';
import { AppApi, type AppCredentials } from './app-api.ts';
import { BotClient } from './bot-client.ts';
import { BotEvents } from './bot-events.ts';
import type { BotTransport } from './bot-transport.ts';
import { CallbackPayloads } from './callback-payload.ts';
import { createLongConnection, type ConnectionOptions } from './connection/long-connection.ts';
import { Cards } from './cards.ts';
import { decodeAesKey } from './crypto.ts';
import { Interactions } from './interactions.ts';
import { MediaDownloads } from './media-downloads.ts';
import type { PlatformTransport, WayParts } from './platform-transport.ts';
import { Questions } from './questions.ts';
import { ResponseUrls } from './response-urls.ts';
import { platformRoutes } from './routes.ts';
import { answerIdOf, ShownAnswers } from './shown-answers.ts';
import { UserIds } from './user-ids.ts';
import type { MessageStore } from '../message-store.ts';

export interface WecomOptions {
  /** Callback credentials of the AI bot; empty strings if it is reached over a connection. */
  bot: { token: string; aesKey: string; aiBotId: string };
  /** Set if the bot is reached over a connection that it opens; otherwise its callback is used. */
  connection?: ConnectionOptions;
  app: AppCredentials;
  /** Whether a delivery with response 503 is retried. Defaults to true. Timeouts and network failures are always retried. */
  retryOn503?: boolean;
  /** Whether the bot receives encrypted ids of people (PLATFORM_FACTS.md wecom-ids). */
  encryptUserIds?: boolean;
}

/** User agent of WeCom's own browser on a phone. */
const APP_USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 wxwork/4.1.30 MicroMessenger/7.0.1 Language/zh';

/**
 * WeCom: an AI bot, reached by encrypted callbacks or over its long connection, and a self-built app beside it with a web
 * sign-in.
 */
export function wecomProtocol(options: WecomOptions): ProtocolFactory {
  return {
    name: 'wecom',
    storeKey: storeKeyOf(options),
    userAgent: APP_USER_AGENT,
    signsInAtService: true,
    start: (side, parts) => start(options, side, parts),
  };
}

/** The callback's key if there is one, so that conversations stay readable when the bot switches to the long connection. */
function storeKeyOf({ bot, connection }: WecomOptions): Buffer {
  return connection && bot.aesKey === ''
    ? createHash('sha256').update(`messenger|${connection.secret}`).digest()
    : decodeAesKey(bot.aesKey);
}

function createCallbackTransport(
  { bot, retryOn503 = true }: WecomOptions,
  side: MessengerContext,
  parts: WayParts,
): PlatformTransport {
  const { nowMs, timing, background } = side;
  const { payloads, shown } = parts;
  const { signal } = background;
  const client = new BotClient({ bot: { ...bot, botUrl: side.bot.url }, nowMs, timing, retryOn503, signal });
  const answers = new AnswerStreams(side, { client, payloads, shown });
  return {
    client,
    opening: answers,
    showLater: (question, whole) => shown.showWhole(question, whole),
    follow: (answer) => answers.follow(answer),
    resume: () => Promise.resolve(),
    flushAnswers: () => answers.settled(),
    settled: () => answers.settled(),
  };
}

function start(options: WecomOptions, side: MessengerContext, parts: ProtocolOptions): Protocol {
  const { app, bot, connection, encryptUserIds = false } = options;
  const { redis, sessions, trustedOrigins } = parts;
  const { nowMs, timing, directory, media, url, store } = side;
  const key = storeKeyOf(options);
  const { mediaLifeMs } = timing;
  const ownKeys = connection !== undefined;
  const downloads = new MediaDownloads({ media, aesKey: key, nowMs, url, mediaLifeMs, ownKeys });
  const userIds = new UserIds({ directory, encryptUserIds, idKey: createSecretKey(key) });
  const interactions = new Interactions(nowMs, timing.streamLifeMs);
  const shown = new ShownAnswers(side, interactions);
  const aiBotId = connection?.botId ?? bot.aiBotId;
  const withResponseUrl = connection?.withoutResponseUrl !== true;
  const payloads = new CallbackPayloads({ directory, downloads, userIds, aiBotId, withResponseUrl, nowMs, url });
  const bringAgain = (messageId: string) => questions.redeliver(messageId, 1);
  const wayParts = { redis, payloads, shown, interactions, userIds, bringAgain };
  const way = connection
    ? createLongConnection(connection, side, wayParts)
    : createCallbackTransport(options, side, wayParts);
  const line: BotTransport = { client: way.client, payloads, interactions };
  const responseUrls = new ResponseUrls(side, redis, way.showLater);
  const questions: Questions = new Questions(side, line, { answers: way.opening, shown, responseUrls });
  const events = new BotEvents(side, line, { redis, shown });
  const send: Protocol['send'] = (saying) => questions.send(saying);
  const cards = new Cards(side, { line, responseUrls, userIds, send });
  const codes = new ShortLivedSecrets<string>(nowMs, timing.codeLifeMs);
  const api = new AppApi({ side, userIds, app, codes, redis });
  const rules = { app, trustedOrigins };
  return {
    send,
    prepare: (saying) => questions.prepare(saying),
    deliver: (question, copies) => questions.deliver(question, copies),
    redeliver: (messageId, copies) => questions.redeliver(messageId, copies),
    resend: (personId, messageId) => questions.resend(personId, messageId),
    answerTo: (messageId) => answerTo(side, messageId),
    // People stop an answer with a command of the bot; the app itself has no stop button.
    stop: () => Promise.reject(new MessengerError('bad_request', 'Send /stop to the bot')),
    enterChat: (personId) => events.enterChat(personId),
    press: (personId, messageId, button) => cards.press(personId, messageId, button),
    rate: (personId, messageId, rating, why) => events.rate(personId, messageId, rating, why),
    verifyBot: () => line.client.verifyUrl(),
    onBotReconnected: () => events.onBotReconnected(),
    routes: () => platformRoutes({ api, responseUrls, downloads, findFile: way.findFile, sessions, codes, rules }),
    connections: way.connections,
    upgrade: (request, stream, head) => way.connections?.upgrade(request, stream, head) ?? false,
    async resume() {
      await way.resume();
      await resumeOpenMessages({ store, interactions, questions, answers: way });
    },
    flushAnswers: () => way.flushAnswers(),
    async settled() {
      await Promise.all([questions.tasks.settled(), way.settled()]);
    },
  };
}

/** An answer that could no longer grow has its complete text in another message. */
async function answerTo({ store }: MessengerContext, messageId: string): Promise<StoredMessage | undefined> {
  const answer = await store.get(answerIdOf(messageId)).catch(() => undefined);
  const insteadId = answer?.answer?.insteadId;
  return insteadId === undefined ? answer : store.get(insteadId).catch(() => answer);
}

interface ResumeParts {
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
async function resumeOpenMessages(parts: ResumeParts): Promise<void> {
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
    await store.markSettled(message.id);
  }
}
