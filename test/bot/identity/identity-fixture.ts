import Koa from 'koa';
import type { RequestListener } from 'node:http';
import { listen } from '../../../src/shared/http/http-server.ts';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';
import { createIdentity, type Identity, type IdentityOptions } from '../../../src/bot/identity/identity.ts';
import type { ChatPerson, IdentityNotice, Release } from '../../../src/bot/identity/account.ts';
import type { PlatformName } from '../../../src/bot/domain/platform-name.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';
import type { ChatSide, SignInPages, SignInRules, SignInService } from '../../../src/bot/identity/options.ts';
import { createFakePlatform, type FakePlatform, type FakePlatformOptions } from '../../support/fake-platform.ts';
import { testKeyRing } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { startStandInService, type StandInService } from './stand-in-service.ts';
import { TestBrowser, type Answer } from './test-browser.ts';

/** A sign-in service of another dialect; who starts it names it in `signIn` too, and closes it. */
export interface Provider {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The parameter in which a return brings what is redeemed. */
  returns: 'code' | 'ticket';
  seen: { authorize: URLSearchParams[]; codes: string[] };
  mintCode(account: string, challenge?: string): string;
}

export interface IdentityFixtureOptions {
  /** In the place of the specified service. */
  provider?: Provider;
  /** Of the service and of the rules alike. */
  signIn?: Partial<SignInService & SignInRules>;
  platform?: FakePlatformOptions;
  /** In the place of a fake platform; who made it closes what it needs. */
  messagingApp?: FakePlatform;
  identity?: Partial<IdentityOptions>;
  pages?: Partial<SignInPages>;
  chat?: Partial<ChatSide>;
  /** All visits come from one address, as from behind a campus' router. */
  isCampus?: boolean;
}

/** Identity behind real HTTP, with a sign-in service and a platform that work. */
export interface IdentityFixture {
  identity: Identity;
  url: string;
  service: StandInService;
  /** Where people sign in: the specified service unless told. */
  provider: Provider;
  platform: FakePlatform;
  options: IdentityOptions;
  /** Moves our clock; Redis's own times do not move. */
  clock: { nowMs: number };
  notices: { person: ChatPerson; notice: IdentityNotice }[];
  releases: Release[];
  events: string[];
  /** What sweeps of the keys reported, by key id. */
  keyCounts: Record<string, number>[];
  lines: string[];
  owner: { platform: PlatformName; tenant: string; app: string };
  /** Asks for a link, although the person may be linked, and fails unless there is one. */
  link(chatUserId: string, force?: boolean): Promise<string>;
  browser(account: string, member?: string): TestBrowser;
  /** Opens the link, presses the button, and follows to the page that comes then. */
  walkToConfirm(browser: TestBrowser, link: string): Promise<Answer>;
  /** The whole way to the page at the end. */
  walk(browser: TestBrowser, link: string): Promise<Answer>;
  /** Lets other identities answer the pages' requests in turn, as processes behind a load balancer do. */
  serve(...identities: Identity[]): void;
  close(): Promise<void>;
}

/** The same identity but for some of its rules. */
export function withRules(options: IdentityOptions, rules: Partial<SignInRules>): IdentityOptions {
  const { signIn } = options;
  return { ...options, signIn: { ...signIn, rules: { ...signIn.rules, ...rules } } };
}

function signInOf(
  { url: authUrl, clientId, clientSecret }: Provider,
  overrides: IdentityFixtureOptions['signIn'] = {},
): IdentityOptions['signIn'] {
  const { proof, proofBy, sameIdRule, keepTokens, uncheckedLinkDays, allowedIdentityCodes, ...service } = overrides;
  return {
    service: { authUrl, clientId, clientSecret, state: 'required', expiresUnit: 'auto', ...service },
    rules: {
      ...{ proof: proof ?? ['same-browser'], keepTokens: keepTokens ?? 'refresh' },
      ...{ proofBy, sameIdRule, uncheckedLinkDays, allowedIdentityCodes },
    },
  };
}

export const CONVERSATION = { id: asConversationId('c0ffee00c0ffee00c0ffee00c0ffee00'), partition: 7 };

/** Rate limits are per address; each walk comes from another one, by a trusted proxy's header. */
let visitors = 0;

export async function startIdentityFixture(
  redis: RedisClient,
  overrides: IdentityFixtureOptions = {},
): Promise<IdentityFixture> {
  await redis.flushdb();
  const service = await startStandInService();
  const { authUrl, seen, mintCode, clientId, clientSecret } = service;
  const own: Provider = { url: authUrl, returns: 'code', seen, mintCode, clientId, clientSecret };
  const { provider = own } = overrides;
  const { messagingApp: platform = createFakePlatform(overrides.platform) } = overrides;
  let handler: RequestListener = (_request, response) => {
    response.writeHead(503).end();
  };
  const server = await listen(
    (request, response) => {
      handler(request, response);
    },
    0,
    '127.0.0.1',
  );
  const clock = { nowMs: 1_790_000_000_000 };
  const { log, lines } = recordingLog();
  const [notices, releases, events]: [IdentityFixture['notices'], Release[], string[]] = [[], [], []];
  const keyCounts: IdentityFixture['keyCounts'] = [];
  const options: IdentityOptions = {
    redis,
    keyRing: testKeyRing(),
    platforms: new Map([[platform.name, platform]]),
    signIn: signInOf(provider, overrides.signIn),
    pages: {
      publicUrl: server.url,
      providerName: { en: 'Example University', zh: 'Example University' },
      ...overrides.pages,
    },
    chat: {
      onLinked: (release) => void releases.push(release),
      notify: (person, notice) => void notices.push({ person, notice }),
      ...overrides.chat,
    },
    nowMs: () => clock.nowMs,
    log,
    report: {
      event: (event, { reason }) => void events.push(reason ? `${event} ${reason}` : event),
      sealedRecords: (counts) => void keyCounts.push(Object.fromEntries(counts)),
    },
    ...overrides.identity,
  };
  const closeAll = async () => {
    await Promise.all([server.close(), service.close()]);
  };
  let identity: Identity;
  try {
    identity = createIdentity(options);
  } catch (error) {
    await closeAll();
    throw error;
  }
  const serve: IdentityFixture['serve'] = (...served) => {
    const apps = served.map((one) => answerOf(one, overrides.isCampus ?? false));
    let requests = 0;
    handler = (request, response) => apps[(requests += 1) % apps.length]?.(request, response);
  };
  serve(identity);

  const fixture: IdentityFixture = {
    ...{
      identity,
      url: server.url,
      service,
      provider,
      platform,
      options,
      clock,
      notices,
      releases,
      events,
      keyCounts,
      lines,
      serve,
    },
    owner: { platform: platform.name, tenant: platform.tenant, app: platform.app },
    async link(chatUserId, force = false) {
      const request = {
        ...fixture.owner,
        chatUserId,
        displayName: `Display ${chatUserId}`,
        conversation: CONVERSATION,
      };
      const how = { language: 'en' as const, ...(force ? { mints: 'always' as const } : {}) };
      let invitation = await identity.askToSignIn({ ...request, ...how });
      if (invitation.kind === 'linked') {
        const uselessLinkMs = invitation.linkedAtMs;
        invitation = await identity.askToSignIn({ ...request, ...how, uselessLinkMs });
      }
      if (invitation.kind !== 'invited') throw new Error(`No link: ${invitation.kind}`);
      return invitation.url;
    },
    browser: (account, member) => new TestBrowser({ account, platform, ...(member === undefined ? {} : { member }) }),
    async walkToConfirm(browser, link) {
      return browser.follow(await browser.submit(await browser.get(link)));
    },
    async walk(browser, link) {
      return browser.submit(await fixture.walkToConfirm(browser, link), '/sign-in/confirm');
    },
    close: closeAll,
  };
  return fixture;
}

function answerOf(identity: Identity, isCampus: boolean): RequestListener {
  const app = new Koa();
  app.use(async (context, next) => {
    // Stands for a client of its own at each visit, where a test is not about the limits.
    if (!isCampus && !context.get('x-fixed-address'))
      Object.defineProperty(context.req.socket, 'remoteAddress', {
        value: `10.0.0.${(visitors += 1)}`,
        configurable: true,
      });
    await next();
  });
  app.use(identity.routes().routes());
  const answer = app.callback();
  return (request, response) => void answer(request, response);
}
