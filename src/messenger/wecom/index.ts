import { MessengerError } from '../messenger-error.ts';
import type { MessengerSide, Protocol, ProtocolKind, ProtocolParts } from '../protocol.ts';
import { AnswerStreams, answerIdOf } from './answer-streams.ts';
import { AppApi, type AppCredentials } from './app-api.ts';
import { BotClient } from './bot-client.ts';
import { BotEvents } from './bot-events.ts';
import type { BotLine } from './bot-line.ts';
import { createCallbackPayloads } from './callback-payload.ts';
import { decodeAesKey } from './crypto.ts';
import { Interactions } from './interactions.ts';
import { MediaDownloads } from './media-downloads.ts';
import { Questions } from './questions.ts';
import { ResponseUrls } from './response-urls.ts';
import { resumeOpenMessages } from './resume-open-messages.ts';
import { platformRoutes } from './routes.ts';
import { UserIds } from './user-ids.ts';
import { WebSignInCodes } from './web-sign-in.ts';

export interface WecomOptions {
  /** The AI bot's callback credentials. */
  bot: { token: string; aesKey: string; aiBotId: string };
  app: AppCredentials;
  /** Whether a delivery that was answered with 503 is repeated (true unless told); time-outs and network failures always are. */
  retryOn503?: boolean;
  /** Whether the bot hears of people by encrypted ids (PLATFORM_FACTS.md wecom-ids). */
  encryptUserIds?: boolean;
}

/** How WeCom's own browser names itself on a phone. */
const APP_USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 wxwork/4.1.30 MicroMessenger/7.0.1 Language/zh';

/** WeCom: encrypted callbacks to an AI bot, answers that are polled, a self-built app beside it with a web sign-in. */
export function wecomProtocol(options: WecomOptions): ProtocolKind {
  const storeKey = decodeAesKey(options.bot.aesKey);
  return {
    name: 'wecom',
    storeKey,
    userAgent: APP_USER_AGENT,
    signsInAtService: true,
    start: (side, parts) => start(options, side, parts),
  };
}

function createLine(
  { bot, retryOn503 = true }: WecomOptions,
  side: MessengerSide,
  { downloads, userIds }: { downloads: MediaDownloads; userIds: UserIds },
): BotLine {
  const { nowMs, timing, directory, url, background } = side;
  const { signal } = background;
  return {
    client: new BotClient({ bot: { ...bot, botUrl: side.bot.url }, nowMs, timing, retryOn503, signal }),
    payloads: createCallbackPayloads({ directory, downloads, userIds, aiBotId: bot.aiBotId, nowMs, url }),
    interactions: new Interactions(),
  };
}

function start(options: WecomOptions, side: MessengerSide, parts: ProtocolParts): Protocol {
  const { app, bot, encryptUserIds = false } = options;
  const { redis, sessions, trustedOrigins } = parts;
  const { nowMs, timing, directory, media, url, store } = side;
  const aesKey = decodeAesKey(bot.aesKey);
  const downloads = new MediaDownloads({ media, aesKey, nowMs, url, mediaLifeMs: timing.mediaLifeMs });
  const userIds = new UserIds({ directory, encryptUserIds, idKey: aesKey });
  const line = createLine(options, side, { downloads, userIds });
  const answers = new AnswerStreams(side, line);
  const responseUrls = new ResponseUrls(side, redis);
  const questions = new Questions(side, line, { answers, responseUrls });
  const events = new BotEvents(side, line, redis);
  const codes = new WebSignInCodes(nowMs, timing.codeLifeMs);
  const api = new AppApi({ side, userIds, app, codes, redis });
  const rules = { app, trustedOrigins };
  return {
    send: (saying) => questions.send(saying),
    prepare: (saying) => questions.prepare(saying),
    deliver: (question, copies) => questions.deliver(question, copies),
    redeliver: (messageId, copies) => questions.redeliver(messageId, copies),
    resend: (personId, messageId) => questions.resend(personId, messageId),
    answerTo: (messageId) => store.get(answerIdOf(messageId)).catch(() => undefined),
    // People stop an answer by a word of the bot; the app itself cannot.
    stop: () => Promise.reject(new MessengerError('bad_request', 'Say /stop to the bot')),
    enterChat: (personId) => events.enterChat(personId),
    rate: (personId, messageId, rating) => events.rate(personId, messageId, rating),
    verifyBot: () => line.client.verifyUrl(),
    botCameBack: () => events.botCameBack(),
    routes: () => platformRoutes({ api, responseUrls, downloads, sessions, codes, rules }),
    resume: () => resumeOpenMessages({ store, interactions: line.interactions, questions, answers }),
    lastLooks: () => answers.settled(),
    async settled() {
      await Promise.all([questions.settled(), answers.settled()]);
    },
  };
}
