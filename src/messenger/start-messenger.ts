import bodyParser from 'koa-bodyparser';
import Koa from 'koa';
import type { NowMs } from '../base/clock.ts';
import { listen } from '../base/http-server.ts';
import { KeyRing } from '../base/key-ring.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import type { PersonView } from './api.ts';
import { AppSessions } from './browser/app-sessions.ts';
import { Frames } from './browser/frames.ts';
import { ChatLog } from './chat-log.ts';
import { Directory, type Group } from './directory.ts';
import { createDriver, type MessengerDriver } from './driver.ts';
import { EventHub } from './event-hub.ts';
import { answerErrors } from './http/answer-error.ts';
import { guard } from './http/guard.ts';
import { pageApi } from './http/page-api.ts';
import { pageFiles } from './http/page-files.ts';
import { platformRoutes } from './http/platform-routes.ts';
import { MediaStore } from './media-store.ts';
import { MessageStore } from './message-store.ts';
import { WECOM_TIMING, type Timing } from './timing.ts';
import { AnswerStreams } from './wecom/answer-streams.ts';
import { AppApi, type AppCredentials } from './wecom/app-api.ts';
import { BotClient, type BotAddress } from './wecom/bot-client.ts';
import { BotEvents } from './wecom/bot-events.ts';
import { BotWatch } from './wecom/bot-watch.ts';
import { decodeAesKey } from './wecom/crypto.ts';
import { Interactions } from './wecom/interactions.ts';
import type { PlatformSide } from './wecom/platform-side.ts';
import { ProtocolTrace } from './wecom/protocol-trace.ts';
import { Questions } from './wecom/questions.ts';
import { ResponseUrls } from './wecom/response-urls.ts';
import { resumeOpenMessages } from './wecom/resume-open-messages.ts';
import { WebSignInCodes } from './wecom/web-sign-in.ts';

export interface MessengerOptions {
  /** 0 takes a free port. */
  port: number;
  /** A loopback address; any other is replaced by 127.0.0.1, since whoever reaches the messenger can act as anybody. */
  host: string;
  /** How browsers and the bot reach the messenger; `http://HOST:PORT` unless told. */
  url?: string;
  redis: RedisClient;
  /** The bot's PUBLIC_URL. */
  botUrl: string;
  serviceUrl: string;
  bot: Omit<BotAddress, 'botUrl'> & { name: string };
  app: AppCredentials;
  people: PersonView[];
  groups: Group[];
  /** Real time unless told. */
  nowMs?: NowMs;
  log: Log;
  timing?: Partial<Timing>;
  /** Whether a delivery that was answered with 503 is repeated; time-outs and network failures always are. */
  retryOn503?: boolean;
  /** Whether the bot hears of people by encrypted ids (wecom.md 2.8). */
  encryptUserIds?: boolean;
  /** Where the built page lies; beside this file unless told. */
  pageDir?: URL;
}

export interface Messenger {
  readonly url: string;
  readonly port: number;
  readonly driver: MessengerDriver;
  /** Stops polling and listening. Answers under way are taken up by the next start. */
  close(): Promise<void>;
}

/** Starts the local messaging app: its page, its API, the in-app browser, and a WeCom that keeps WeCom's rules. */
export async function startMessenger(options: MessengerOptions): Promise<Messenger> {
  const stop = new AbortController();
  const address = { url: options.url ?? '' };
  const url = () => address.url;
  const hub = new EventHub();
  const side = createSide(options, { hub, url, signal: stop.signal });
  const answers = new AnswerStreams(side);
  const responseUrls = new ResponseUrls(side, options.redis);
  const questions = new Questions(side, answers, responseUrls);
  const events: BotEvents = new BotEvents(side, options.redis, () => watch.isReachable);
  const watch = createWatch(side, { hub, events });
  const frames = createFrames(options, { hub, url, side });
  const trustedOrigins = [new URL(options.botUrl).origin, new URL(options.serviceUrl).origin];
  const parts = {
    side,
    questions,
    events,
    frames: frames.frames,
    hub,
    inAppOrigins: trustedOrigins,
    isBotReachable: () => watch.isReachable,
  };
  const codes = new WebSignInCodes(side.nowMs, side.timing.codeLifeMs);
  const api = new AppApi({ side, app: options.app, codes, redis: options.redis });
  const rules = {
    app: options.app,
    trustedOrigins,
  };

  const app = new Koa();
  app.silent = true;
  app.use(answerErrors(options.log));
  app.use(guard(url));
  app.use(bodyParser({ jsonLimit: '1mb', enableTypes: ['json'] }));
  app.use(platformRoutes({ api, responseUrls, media: side.media, sessions: frames.sessions, codes, rules }).routes());
  app.use(pageApi(parts).routes());
  app.use(pageFiles(options.pageDir ?? new URL('./page/', import.meta.url)).routes());

  const handle = app.callback();
  const server = await listen((request, response) => void handle(request, response), options.port, loopback(options));
  address.url = options.url ?? server.url;
  await resumeOpenMessages(side, { questions, answers });
  const watching = watch.run();
  return {
    url: address.url,
    port: server.port,
    driver: createDriver(parts),
    async close() {
      stop.abort();
      await Promise.all([server.close(), frames.frames.closeAll(), watching, questions.settled(), answers.settled()]);
    },
  };
}

interface Surroundings {
  hub: EventHub;
  url(): string;
  signal: AbortSignal;
}

function createSide(options: MessengerOptions, { hub, url, signal }: Surroundings): PlatformSide {
  const { redis, bot, log, nowMs = Date.now } = options;
  const timing = { ...WECOM_TIMING, ...options.timing };
  const aesKey = decodeAesKey(bot.aesKey);
  const directory = new Directory({
    people: options.people,
    groups: options.groups,
    botName: bot.name,
    encryptUserIds: options.encryptUserIds ?? false,
    idKey: aesKey,
  });
  // Conversations are sealed under a key that is derived from the bot's: the messenger has no secret of its own.
  const store = new MessageStore(redis, new KeyRing([aesKey]));
  const retryOn503 = options.retryOn503 ?? true;
  return {
    directory,
    store,
    chatLog: new ChatLog({ store, directory, hub, nowMs }),
    media: new MediaStore({ redis, aesKey, nowMs, url, mediaLifeMs: timing.mediaLifeMs }),
    client: new BotClient({ bot: { ...bot, botUrl: options.botUrl }, nowMs, timing, retryOn503, signal }),
    interactions: new Interactions(),
    trace: new ProtocolTrace(log),
    botName: bot.name,
    aiBotId: bot.aiBotId,
    nowMs,
    timing,
    log,
    signal,
    url,
  };
}

function createWatch(side: PlatformSide, { hub, events }: { hub: EventHub; events: BotEvents }): BotWatch {
  const { client, timing, log, signal } = side;
  return new BotWatch({
    client,
    timing,
    log,
    signal,
    onChange(reachable) {
      hub.publishToAll({ name: 'bot', data: { reachable } });
      if (!reachable) return;
      events.botCameBack().catch((error: unknown) => {
        if (!signal.aborted) log.error({ error }, 'the entries into chats could not be told');
      });
    },
  });
}

function createFrames(
  options: MessengerOptions,
  { hub, url, side }: { hub: EventHub; url(): string; side: PlatformSide },
): { frames: Frames; sessions: AppSessions } {
  const sessions = new AppSessions();
  const frames = new Frames({
    sessions,
    origins: [new URL(options.botUrl).origin, new URL(options.serviceUrl).origin],
    url,
    nowMs: side.nowMs,
    frameIdleMs: side.timing.frameIdleMs,
    signal: side.signal,
    onMove: (personId, data) => hub.publish(personId, { name: 'frame', data }),
  });
  return { frames, sessions };
}

function loopback({ host, log }: MessengerOptions): string {
  if (/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) return host;
  log.warn({ host }, 'the messenger listens on the loopback only');
  return '127.0.0.1';
}
