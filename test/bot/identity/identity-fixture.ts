import Koa from 'koa';
import type { RequestListener } from 'node:http';
import { listen } from '../../../src/shared/http/http-server.ts';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';
import { createIdentity, type Identity, type IdentityOptions } from '../../../src/bot/identity/identity.ts';
import type { ChatPerson, IdentityNotice, Release } from '../../../src/bot/identity/account.ts';
import type { PlatformName } from '../../../src/bot/domain/platform-name.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';
import type { ChatHooks, SignInPages, SignInRules, SignInService } from '../../../src/bot/identity/options.ts';
import { createFakePlatform, type FakePlatform, type FakePlatformOptions } from '../../support/fake-platform.ts';
import { testKeyRing } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { startStandInService, type StandInService } from './stand-in-service.ts';
import { TestBrowser, type Answer } from './test-browser.ts';

/** A sign-in service of another type. The caller also sets its type in `signIn`, and closes it. */
export interface Provider {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The callback parameter that contains the code or ticket. */
  returns: 'code' | 'ticket';
  seen: { authorize: URLSearchParams[]; codes: string[] };
  mintCode(account: string, challenge?: string): string;
}

export interface IdentityFixtureOptions {
  /** Replaces the OAuth 2.0 stand-in. */
  provider?: Provider;
  /** Overrides of both the service options and the rules. */
  signIn?: Partial<SignInService & SignInRules>;
  platform?: FakePlatformOptions;
  /** Replaces the fake platform. The caller closes its resources. */
  messagingApp?: FakePlatform;
  identity?: Partial<IdentityOptions>;
  pages?: Partial<SignInPages>;
  chat?: Partial<ChatHooks>;
  /** Whether all requests come from one address, as behind a campus router. */
  isCampus?: boolean;
}

/** Identity behind a real HTTP server, with a working sign-in service and platform. */
export interface IdentityFixture {
  identity: Identity;
  url: string;
  service: StandInService;
  /** The sign-in service. Defaults to the OAuth 2.0 stand-in. */
  provider: Provider;
  platform: FakePlatform;
  options: IdentityOptions;
  /** Sets the clock of the identity module. Redis expiry times are not affected. */
  clock: { nowMs: number };
  notices: { person: ChatPerson; notice: IdentityNotice }[];
  releases: Release[];
  events: string[];
  /** Reports of the key sweeps: records by key id. */
  keyCounts: Record<string, number>[];
  lines: string[];
  owner: { platform: PlatformName; tenant: string; app: string };
  /** Requests a link, also for a linked person. @throws Error if none is returned */
  link(chatUserId: string, force?: boolean): Promise<string>;
  browser(account: string, member?: string): TestBrowser;
  /** Opens the link, submits its form and follows redirects to the next page. */
  walkToConfirm(browser: TestBrowser, link: string): Promise<Answer>;
  /** Signs in completely and returns the last page. */
  walk(browser: TestBrowser, link: string): Promise<Answer>;
  /** Serves requests from these identities in turn, like processes behind a load balancer. */
  serve(...identities: Identity[]): void;
  close(): Promise<void>;
}

/** Copies the options with some rules replaced. */
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

/** Number of requests so far. Each gets a new client address, because rate limits count by address. */
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
      let invitation = await identity.inviteToSignIn({ ...request, ...how });
      if (invitation.kind === 'linked') {
        const uselessLinkMs = invitation.linkedAtMs;
        invitation = await identity.inviteToSignIn({ ...request, ...how, uselessLinkMs });
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
    // Simulates a different client for each request, unless the test is about rate limits.
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
