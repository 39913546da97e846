import bodyParser from 'koa-bodyparser';
import Koa from 'koa';
import { inBackground } from '../base/in-background.ts';
import type { NowMs } from '../base/clock.ts';
import { listen } from '../base/http-server.ts';
import { KeyRing } from '../base/key-ring.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import { settledWithin } from '../base/settled-within.ts';
import type { LocalLogins, PersonView } from './api.ts';
import { BotWatch } from './bot-watch.ts';
import { AppSessions } from './browser/app-sessions.ts';
import { Frames } from './browser/frames.ts';
import { ChatLog } from './chat-log.ts';
import { Directory, type Group } from './directory.ts';
import { createDriver, type MessengerDriver } from './driver.ts';
import { EventHub } from './event-hub.ts';
import { answerErrors } from './http/answer-error.ts';
import { guard } from './http/guard.ts';
import { localApi } from './http/local-api.ts';
import { pageApi } from './http/page-api.ts';
import { pageFiles } from './http/page-files.ts';
import type { LocalControls } from './local-controls.ts';
import { MediaStore } from './media-store.ts';
import { MessageStore } from './message-store.ts';
import type { MessengerSide, Protocol, ProtocolKind } from './protocol.ts';
import { ProtocolTrace } from './protocol-trace.ts';
import { WECOM_TIMING, type Timing } from './timing.ts';

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
  botName: string;
  /** The platform that the messenger plays. */
  protocol: ProtocolKind;
  people: PersonView[];
  /** How people log in at the local sign-in service, by person id, for the page to say. */
  localLogins?: LocalLogins;
  groups: Group[];
  /** What the page may do to the Parley it is part of; nothing unless told. */
  controls?: LocalControls;
  /** Real time unless told. */
  nowMs?: NowMs;
  log: Log;
  timing?: Partial<Timing>;
  /** Where the built page lies; beside this file unless told. */
  pageDir?: URL;
}

export interface Messenger {
  readonly url: string;
  readonly port: number;
  readonly driver: MessengerDriver;
  /** Tells the pages that it is being stopped: what is under way is finished first. */
  tellStop(): void;
  /**
   * Stops polling and listening, and tells the pages so. Answers under way are taken up by the next start.
   * @param wereAnswering whether the bot has just finished answers whose last snapshot is still to be fetched
   */
  close(wereAnswering?: boolean): Promise<void>;
}

/** Within so many polls the last snapshot of a finished answer has been fetched. */
const LAST_LOOKS_POLLS = 2;
/** How long the pages may take to read that it is over. */
const LAST_WORDS_MS = 300;

/** Starts the local messaging app: its page, its API, the in-app browser, and a platform that keeps its rules. */
export async function startMessenger(options: MessengerOptions): Promise<Messenger> {
  const stop = new AbortController();
  const address = { url: options.url ?? '' };
  const url = () => address.url;
  const side = createSide(options, { url, signal: stop.signal, isBotReachable: () => watch.isReachable });
  const protocol = options.protocol.start(side);
  const watch: BotWatch = createWatch(side, protocol);
  const frames = createFrames(options, side);

  const app = new Koa();
  app.silent = true;
  app.use(answerErrors(options.log));
  app.use(guard(url));
  // Before the page's body parser: what is wrong with a body, the platform says in its own way.
  app.use(protocol.routes().routes());
  app.use(bodyParser({ jsonLimit: '1mb', enableTypes: ['json'] }));
  const logins = options.localLogins && {
    localLogins: options.localLogins,
    signInHost: new URL(options.serviceUrl).host,
  };
  app.use(
    pageApi({
      side,
      protocol,
      protocolName: options.protocol.name,
      frames,
      logins,
      isLocal: options.controls !== undefined,
    }).routes(),
  );
  const { controls } = options;
  const endTelling = controls?.onWorker((data) => side.hub.publishToAll({ name: 'worker', data }));
  if (controls) app.use(localApi(controls).routes());
  app.use(pageFiles(options.pageDir ?? new URL('./page/', import.meta.url)).routes());

  const handle = app.callback();
  const server = await listen(
    (request, response) => inBackground(() => handle(request, response)),
    options.port,
    loopback(options),
  );
  address.url = options.url ?? server.url;
  await protocol.resume();
  const watching = watch.run();
  return {
    url: address.url,
    port: server.port,
    driver: createDriver({ side, protocol, frames }),
    tellStop: () => side.hub.publishToAll({ name: 'stop', data: { isOver: false } }),
    async close(wereAnswering = false) {
      if (wereAnswering) await settledWithin([protocol.lastLooks()], LAST_LOOKS_POLLS * side.timing.pollEveryMs);
      side.hub.publishToAll({ name: 'stop', data: { isOver: true } });
      stop.abort();
      endTelling?.();
      await Promise.all([server.close(LAST_WORDS_MS), frames.closeAll(), watching, protocol.settled()]);
    },
  };
}

function createSide(
  options: MessengerOptions,
  surroundings: Pick<MessengerSide, 'url' | 'signal' | 'isBotReachable'>,
): MessengerSide {
  const { redis, botName, botUrl, serviceUrl, log, people, groups, protocol, nowMs = Date.now } = options;
  const hub = new EventHub();
  const keyRing = new KeyRing([protocol.storeKey]);
  const directory = new Directory({ people, groups, botName });
  const store = new MessageStore(redis, keyRing, protocol.name);
  return {
    directory,
    store,
    hub,
    chatLog: new ChatLog({ store, directory, hub, nowMs }),
    media: new MediaStore(redis, keyRing),
    trace: new ProtocolTrace(log),
    sessions: new AppSessions(),
    redis,
    botName,
    botUrl,
    trustedOrigins: [new URL(botUrl).origin, new URL(serviceUrl).origin],
    nowMs,
    timing: { ...WECOM_TIMING, ...options.timing },
    log,
    ...surroundings,
  };
}

function createWatch({ hub, timing, log, signal }: MessengerSide, protocol: Protocol): BotWatch {
  return new BotWatch({
    verify: () => protocol.verifyBot(),
    timing,
    log,
    signal,
    onChange(reachable) {
      hub.publishToAll({ name: 'bot', data: { reachable } });
      if (!reachable) return;
      protocol.botCameBack().catch((error: unknown) => {
        if (!signal.aborted) log.error({ error }, 'the entries into chats could not be told');
      });
    },
  });
}

function createFrames({ protocol }: MessengerOptions, side: MessengerSide): Frames {
  return new Frames({
    sessions: side.sessions,
    origins: side.trustedOrigins,
    url: side.url,
    userAgent: protocol.userAgent,
    nowMs: side.nowMs,
    frameIdleMs: side.timing.frameIdleMs,
    signal: side.signal,
    onMove: (personId, data) => side.hub.publish(personId, { name: 'frame', data }),
  });
}

function loopback({ host, log }: MessengerOptions): string {
  if (/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) return host;
  log.warn({ host }, 'the messenger listens on the loopback only');
  return '127.0.0.1';
}
