import bodyParser from 'koa-bodyparser';
import Koa from 'koa';
import { inBackground } from '../shared/in-background.ts';
import type { NowMs } from '../shared/clock.ts';
import { FILE_REQUEST_TIMEOUT_MS, listen } from '../shared/http/http-server.ts';
import { KeyRing } from '../shared/crypto/key-ring.ts';
import type { Log } from '../shared/log.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import { settledWithin } from '../shared/settled-within.ts';
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
import { createOwnerGuard } from './http/owner-guard.ts';
import { localApi } from './http/local-api.ts';
import { pageApi } from './http/page-api.ts';
import { pageFiles } from './http/page-files.ts';
import type { LocalControls } from './local-controls.ts';
import { MediaStore } from './media-store.ts';
import { MessageStore } from './message-store.ts';
import type { BackgroundWork, MessengerContext, ProtocolFactory } from './protocol.ts';
import { ProtocolTrace } from './protocol-trace.ts';
import { WECOM_TIMING, type Timing } from './timing.ts';

export interface MessengerAddress {
  /** 0 selects a free port. */
  port: number;
  /**
   * A loopback address; any other is replaced by 127.0.0.1, because everyone who reaches the messenger can act as anyone.
   */
  host: string;
  /** Part of the printed address (SECURITY.md local-owner). Without a token every user of the machine can use the page. */
  token?: string;
  /** URL of the messenger for browsers and the bot. Defaults to `http://HOST:PORT`. */
  url?: string;
}

/** Overrides for tests. */
export interface MessengerDeps {
  /** Defaults to real time. */
  nowMs: NowMs;
  /** Defaults to the platform's real timing. */
  timing: Partial<Timing>;
  /** Directory of the built page. Defaults to the one beside this file. */
  pageDir: URL;
}

export interface MessengerOptions {
  address: MessengerAddress;
  redis: RedisClient;
  /** The bot's name and PUBLIC_URL. */
  bot: { name: string; url: string };
  /** The sign-in service, and the credentials of each person, by id, for the page to show. */
  service: { url: string; localLogins?: LocalLogins };
  /** The simulated platform. */
  protocol: ProtocolFactory;
  office: { people: PersonView[]; groups: Group[] };
  /** Control of the page over its own Parley. Defaults to none. */
  controls?: LocalControls;
  log: Log;
  deps?: Partial<MessengerDeps>;
}

export interface Messenger {
  readonly url: string;
  readonly port: number;
  /** Addresses that open the page: one to print, and one for a program that opens a browser. */
  readonly page: { printed: string; forOnce: string };
  readonly driver: MessengerDriver;
  /** Notifies the pages that it is being stopped: unfinished work is completed first. */
  tellStop(): void;
  /**
   * Stops polling and listening, and notifies the pages. Unfinished answers are resumed by the next start.
   * @param wereAnswering whether the bot has just finished answers whose last snapshot has not been fetched yet
   */
  close(wereAnswering?: boolean): Promise<void>;
}

/** Maximum polls until the last snapshot of a finished answer has been fetched. */
const MAX_FINAL_POLLS = 2;
/** Time for the pages to receive the final notification. */
const FINAL_EVENT_GRACE_MS = 300;

/** Starts the local messaging app: its page, its API, the in-app browser, and a simulated platform. */
export async function startMessenger(options: MessengerOptions): Promise<Messenger> {
  const { bot, service, redis, controls, log } = options;
  const stop = new AbortController();
  const address = { url: options.address.url ?? '' };
  const url = () => address.url;
  const background = createBackground(stop.signal, log);
  const side = createMessengerContext(options, {
    url,
    background,
    bot: { ...bot, isReachable: () => watch.isReachable },
  });
  const sessions = new AppSessions();
  const trustedOrigins = [new URL(bot.url).origin, new URL(service.url).origin];
  const protocol = options.protocol.start(side, { redis, sessions, trustedOrigins });
  const watch: BotWatch = new BotWatch(side, protocol, log);
  const { token } = options.address;
  const owner = token === undefined ? undefined : createOwnerGuard(token, url);
  const frames = new Frames({
    ...{
      sessions,
      origins: trustedOrigins,
      url,
      isOwner: owner?.isOwner ?? (() => true),
      userAgent: options.protocol.userAgent,
    },
    ...{ nowMs: side.nowMs, frameIdleMs: side.timing.frameIdleMs, signal: stop.signal },
    onMove: (personId, data) => side.hub.publish(personId, { name: 'frame', data }),
  });

  const app = new Koa();
  app.silent = true;
  app.use(answerErrors(log));
  app.use(guard(url));
  // Before the page's body parser: the platform reports invalid bodies in its own format.
  app.use(protocol.routes().routes());
  if (owner) app.use(owner.middleware);
  app.use(bodyParser({ jsonLimit: '1mb', enableTypes: ['json'] }));
  const { localLogins } = service;
  app.use(
    pageApi({
      side,
      protocol,
      protocolName: options.protocol.name,
      frames,
      trustedOrigins,
      logins: localLogins && { localLogins, signInHost: new URL(service.url).host },
      isLocal: controls !== undefined,
    }).routes(),
  );
  const endTelling = controls?.onWorker((data) => side.hub.publishToAll({ name: 'worker', data }));
  if (controls) app.use(localApi(controls).routes());
  app.use(pageFiles(options.deps?.pageDir ?? new URL('./web/', import.meta.url)).routes());

  const handle = app.callback();
  const server = await listen(
    (request, response) => inBackground(() => handle(request, response)),
    options.address.port,
    loopback(options.address.host, log),
    FILE_REQUEST_TIMEOUT_MS,
  );
  address.url = options.address.url ?? server.url;
  server.server.on('upgrade', (request, stream, head) => {
    // Node no longer handles its errors: a broken connection would otherwise end the process.
    stream.on('error', () => stream.destroy());
    if (!URL.canParse(request.url ?? '', address.url)) return void stream.destroy();
    // A browser sends its page's origin in each handshake, and the bot is not a page.
    if (request.headers.origin !== undefined) return void stream.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    if (protocol.upgrade?.(request, stream, head) !== true) stream.destroy();
  });
  await protocol.resume();
  const watching = watch.run();
  return {
    url: address.url,
    page: { printed: owner?.address() ?? address.url, forOnce: owner?.addressForOnce() ?? address.url },
    port: server.port,
    driver: createDriver({ side, protocol, frames }),
    tellStop: () => side.hub.publishToAll({ name: 'stop', data: { isOver: false } }),
    async close(wereAnswering = false) {
      if (wereAnswering) await settledWithin([protocol.flushAnswers()], MAX_FINAL_POLLS * side.timing.pollEveryMs);
      side.hub.publishToAll({ name: 'stop', data: { isOver: true } });
      stop.abort();
      endTelling?.();
      await Promise.all([server.close(FINAL_EVENT_GRACE_MS), frames.closeAll(), watching, protocol.settled()]);
    },
  };
}

function createBackground(signal: AbortSignal, log: Log): BackgroundWork {
  return {
    signal,
    failed(error, what) {
      if (!signal.aborted) log.error({ error }, what);
    },
  };
}

function createMessengerContext(
  { redis, bot, office, protocol, log, deps: { nowMs = Date.now, timing } = {} }: MessengerOptions,
  surroundings: Pick<MessengerContext, 'url' | 'background' | 'bot'>,
): MessengerContext {
  const hub = new EventHub();
  const keyRing = new KeyRing([protocol.storeKey]);
  const directory = new Directory({ ...office, botName: bot.name });
  const store = new MessageStore(redis, keyRing, protocol.name);
  return {
    directory,
    store,
    hub,
    chatLog: new ChatLog({ store, directory, hub, nowMs }),
    media: new MediaStore(redis, keyRing),
    trace: new ProtocolTrace(log),
    nowMs,
    timing: { ...WECOM_TIMING, ...timing },
    ...surroundings,
  };
}

function loopback(host: string, log: Log): string {
  if (/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) return host;
  log.warn({ host }, 'the messenger accepts only a loopback address');
  return '127.0.0.1';
}
