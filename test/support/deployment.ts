import { shippedModels } from './shipped-models.ts';
import type { EgressPolicy } from '../../src/shared/web/egress-policy.ts';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { got } from 'got';
import { startApp, type App } from '../../src/bot/app/app.ts';
import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { freePort, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { slackProtocol, type SlackOptions } from '../../src/simulator/slack/index.ts';
import { startMessenger, type Messenger, type MessengerOptions } from '../../src/simulator/start-messenger.ts';
import { wecomProtocol } from '../../src/simulator/wecom/index.ts';
import { parseDirectoryFile, type ServicePerson } from '../../src/service/directory-file.ts';
import { wecomSignIn } from '../../src/service/oauth/methods/wecom-sign-in.ts';
import { startService, type RunningService } from '../../src/service/start-service.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { goOn } from '../../src/cli/eval/sign-in-walk.ts';
import { registerTexts } from './evidence/register-texts.ts';
import { registerEnvironment } from './evidence/register-environment.ts';
import { recordingLog, startRedisServer } from './redis.ts';
import { untilTrue } from './until-true.ts';

export { untilTrue };

/** The page of the messenger after `npm run build`. */
const BUILT_PAGE = new URL('../../dist/simulator/web/', import.meta.url);

export interface DeploymentOptions {
  /** More settings for the bot. */
  env?: Record<string, string>;
  messenger?: { serviceUrl?: string; groups?: MessengerOptions['office']['groups'] };
  /** The platform of the simulator. Defaults to WeCom. */
  protocol?: 'wecom' | 'slack';
  slackTiming?: SlackOptions['timing'];
  /** Whether a second simulator plays Slack next to WeCom, for the same bot. */
  slackToo?: boolean;
  /** Whether the bot opens a connection for deliveries in place of its webhook. */
  isConnected?: boolean;
  tokensPerSec?: number;
  /** People in addition to those of `examples/people.json`. */
  morePeople?: ServicePerson[];
  /** Addresses that the bot's page reader may reach. Defaults to the public web. */
  reach?: EgressPolicy;
  /** Whether the bot is started immediately, in this process. Defaults to true. */
  startsBot?: boolean;
}

const TOWN_HALL = [{ id: 'wrtown', name: 'Town hall', members: ['zhangwei', 'linxiaoyu', 'emma.clarke'] }];

/** A real environment of a bot: Redis, the WeCom simulator, the chat and sign-in service. */
export interface Deployment {
  readonly redisServer: EmbeddedRedis;
  readonly redis: RedisClient;
  readonly service: RunningService;
  readonly messenger: Messenger;
  /** The second simulator, or the first if there is only one. */
  readonly slackMessenger: Messenger;
  readonly botUrl: string;
  /** The settings of a bot for this deployment, for `startBot` and for separate processes. */
  readonly env: Record<string, string>;
  /** Log lines of all parts in this process. */
  readonly lines: string[];
  /** Starts a bot in this process. */
  startBot(more?: Record<string, string>): Promise<App>;
  stopBot(): Promise<void>;
  /** Advances the clock of everything in this process. */
  advance(ms: number): void;
  /** Follows the sign-in link in a chat text to the last page, as its person. @returns the text of that page */
  signIn(personId: string, invitation: string, messenger?: Messenger): Promise<string>;
  /** Opens an address in the person's in-app browser and presses the first button of each page. @returns the last page */
  walk(personId: string, address: string, messenger?: Messenger): Promise<{ url: URL; text: string }>;
  stop(): Promise<void>;
}

export const APP_CREDENTIALS = { corpId: 'wwtest', agentId: '1000002', agentSecret: 'test-agent-secret' };
const SLACK_CREDENTIALS = {
  signingSecret: 'test-signing-secret-0123456789',
  botToken: 'xoxb-test-0123456789',
  client: { clientId: '12345.67890', clientSecret: 'test-slack-client-secret' },
};
export const WECOM_CONNECTION = { botId: 'aibot-test', secret: 'test-connection-secret' };
const SLACK_APP_TOKEN = 'xapp-test-0123456789';
const API_KEY = 'sk-test-0123456789';
const CLIENT = { clientId: 'test-bot', clientSecret: 'test-client-secret', name: 'Parley' };

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const { log, lines } = recordingLog();
  let offsetMs = 0;
  const nowMs = () => Date.now() + offsetMs;
  const [redisServer, botPort, messengerPort] = [await startRedisServer(), await freePort(), await freePort()];
  const redis = connectRedis({ urls: [redisServer.url] }, 'wait', log, 'test');
  const botUrl = `http://127.0.0.1:${botPort}`;
  const isSlack = options.protocol === 'slack';
  const messengerUrl = `http://127.0.0.1:${messengerPort}`;
  const bot = {
    token: randomBytes(8).toString('hex'),
    aesKey:
      randomBytes(33)
        .toString('base64')
        .replace(/[^A-Za-z0-9]/g, 'x')
        .slice(0, 42) + 'A',
  };
  const usual = parseDirectoryFile(await readFile('examples/people.json', 'utf8'), { allowPlainPasswords: true });
  const directory = [...usual, ...(options.morePeople ?? [])];
  const service = await startService({
    address: { port: 0, host: '127.0.0.1' },
    files: {
      models: shippedModels(),
      clients: [{ ...CLIENT, redirectUris: [`${botUrl}/oauth/callback`] }],
      directory,
    },
    chat: { apiKeys: [API_KEY] },
    engine: { docsDir: process.cwd(), builtInPace: { tokensPerSec: options.tokensPerSec ?? 400 } },
    signIn: {
      messagingApps: [wecomSignIn({ ...APP_CREDENTIALS, apiUrl: messengerUrl, openUrl: messengerUrl })],
      accessTokenSec: 7_200,
      refreshTokenSec: 86_400,
    },
    ...{ redis, nowMs, log },
  });
  const appToken = options.isConnected ? SLACK_APP_TOKEN : undefined;
  const playSlack = () => slackProtocol({ ...SLACK_CREDENTIALS, appToken, timing: options.slackTiming });
  const people = directory.flatMap(({ messaging, profile }) =>
    messaging['wecom'] === undefined
      ? []
      : [{ id: messaging['wecom'], name: profile.attributes.XM, department: profile.attributes.BMMC }],
  );
  const around = {
    redis,
    bot: { name: 'Parley', url: botUrl },
    service: { url: options.messenger?.serviceUrl ?? service.url },
    office: { people, groups: options.messenger?.groups ?? TOWN_HALL },
    log,
    deps: {
      nowMs,
      pageDir: BUILT_PAGE,
      timing: { pollEveryMs: 100, retryAfterMs: 500, answerTimeoutMs: 2_000, watchAwayMs: 50 },
    },
  };
  const messenger = await startRecordedMessenger({
    ...around,
    address: { port: messengerPort, host: '127.0.0.1' },
    protocol: isSlack
      ? playSlack()
      : wecomProtocol({
          bot: { ...bot, aiBotId: WECOM_CONNECTION.botId },
          app: APP_CREDENTIALS,
          connection: options.isConnected ? WECOM_CONNECTION : undefined,
        }),
  });
  const slackMessenger =
    options.slackToo === true
      ? await startRecordedMessenger({ ...around, address: { port: 0, host: '127.0.0.1' }, protocol: playSlack() })
      : messenger;
  const env: Record<string, string> = {
    PORT: String(botPort),
    HOST: '127.0.0.1',
    AI_MARK: 'no',
    PUBLIC_URL: botUrl,
    REDIS_URL: redisServer.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    CHAT_BASE_URL: `${service.url}/v1`,
    CHAT_API_KEY: API_KEY,
    SIGN_IN_URL: service.url,
    SIGN_IN_CLIENT_ID: CLIENT.clientId,
    SIGN_IN_CLIENT_SECRET: CLIENT.clientSecret,
    ...(isSlack
      ? { ...slackEnv(messengerUrl, options.isConnected), SIGN_IN_PROOF: 'typed-code' }
      : wecomEnv(messengerUrl, bot, options.isConnected)),
    ...(options.slackToo === true ? slackEnv(slackMessenger.url) : {}),
    // A stop waits this long for turns, and five seconds less for background tasks.
    SHUTDOWN_GRACE_SEC: '8',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    ...options.env,
  };
  registerEnvironment(env);
  let app: App | undefined;
  const deployment: Deployment = {
    redisServer,
    redis,
    service,
    messenger,
    slackMessenger,
    botUrl,
    env,
    lines,
    async startBot(more = {}) {
      const settings = loadSettings({ env: { ...env, ...more }, cwd: process.cwd() });
      if (!settings.ok) throw new Error(settings.faults.map(({ message }) => message).join('\n'));
      app = await startApp({
        config: settings.config,
        secrets: settings.secrets,
        log,
        nowMs,
        ...(options.reach ? { egress: options.reach } : {}),
        onFatal: (sentence) => log.fatal(sentence),
      });
      return app;
    },
    async stopBot() {
      // observe-http.ts keeps the metrics as evidence. A connection kept from an earlier bot at this address has ended.
      if (app) await got(`${botUrl}/metrics`, { retry: { limit: 0 }, agent: { http: new Agent() } });
      await app?.close();
      app = undefined;
    },
    advance: (ms) => void (offsetMs += ms),
    async signIn(personId, invitation, where) {
      const link = /https?:\/\/\S+\/link\/[\w-]+/.exec(invitation)?.[0];
      if (link === undefined) throw new Error('There is no sign-in link in the text');
      return (await deployment.walk(personId, link, where)).text;
    },
    walk: (personId, address, where = messenger) =>
      walk(where, { personId, login: loginOf(directory, personId) }, address),
    async stop() {
      await deployment.stopBot();
      await messenger.close();
      if (slackMessenger !== messenger) await slackMessenger.close();
      await service.close();
      redis.disconnect();
      await redisServer.stop();
    },
  };
  if (options.startsBot !== false) {
    await deployment.startBot();
    await untilTrue(() => [messenger, slackMessenger].every(({ driver }) => driver.isBotReachable()));
  }
  return deployment;
}

/** A simulator that registers every text of people as secret. */
export async function startRecordedMessenger(options: MessengerOptions): Promise<Messenger> {
  const messenger = await startMessenger(options);
  return { ...messenger, driver: registerTexts(messenger.driver) };
}

export function wecomEnv(
  messengerUrl: string,
  bot: { token: string; aesKey: string },
  isConnected = false,
): Record<string, string> {
  const connection = {
    WECOM_CONNECT: 'connection',
    WECOM_BOT_ID: WECOM_CONNECTION.botId,
    WECOM_BOT_SECRET: WECOM_CONNECTION.secret,
    WECOM_WS_URL: `${messengerUrl.replace(/^http/, 'ws')}/wecom-connection`,
  };
  return {
    ...(isConnected ? connection : { WECOM_BOT_TOKEN: bot.token, WECOM_BOT_AES_KEY: bot.aesKey }),
    WECOM_BOT_NAME: 'Parley',
    WECOM_CORP_ID: APP_CREDENTIALS.corpId,
    WECOM_AGENT_ID: APP_CREDENTIALS.agentId,
    WECOM_AGENT_SECRET: APP_CREDENTIALS.agentSecret,
    WECOM_API_URL: messengerUrl,
    WECOM_OPEN_URL: messengerUrl,
  };
}

function slackEnv(messengerUrl: string, isConnected = false): Record<string, string> {
  return {
    ...(isConnected
      ? { SLACK_CONNECT: 'socket', SLACK_APP_TOKEN }
      : { SLACK_SIGNING_SECRET: SLACK_CREDENTIALS.signingSecret }),
    SLACK_BOT_TOKEN: SLACK_CREDENTIALS.botToken,
    SLACK_CLIENT_ID: SLACK_CREDENTIALS.client.clientId,
    SLACK_CLIENT_SECRET: SLACK_CREDENTIALS.client.clientSecret,
    SLACK_API_URL: `${messengerUrl}/api/`,
    SLACK_OPEN_URL: messengerUrl,
  };
}

/** Presses the first button of each page, like a person who agrees. */
export async function walk(
  { driver }: Messenger,
  { personId, login }: { personId: string; login: URLSearchParams },
  address: string,
): Promise<{ url: URL; text: string }> {
  let result = await driver.browse(personId, { url: new URL(address), method: 'GET', destination: 'document' });
  for (let step = 0; step < 8; step += 1) {
    if (result.kind !== 'page') throw new Error(`The browser ended ${result.kind}`);
    const text = result.body.toString('utf8');
    // The code belongs in the chat, so the browser is done.
    const isLast = result.status >= 400 || text.includes('class="symbols"');
    const next = isLast ? undefined : await goOn(driver, personId, { shown: result, text, typed: login });
    if (!next) return { url: result.url, text };
    result = next;
  }
  throw new Error('The way through the pages did not come to an end');
}

/** The login that a person types at the service, in an app without its own sign-in. */
function loginOf(directory: readonly ServicePerson[], personId: string): URLSearchParams {
  const person = directory.find(({ messaging }) => messaging['wecom'] === personId);
  const password = person?.password.replace(/^plain:/, '') ?? '';
  return new URLSearchParams({ username: person?.username ?? '', password });
}
