import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { startApp, type App } from '../../src/bot/app/app.ts';
import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { startScriptedChatServer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { startFakeSlack, type FakeSlack } from './fake-slack.ts';
import { startParleyProcess, type ParleyProcess } from './parley-process.ts';
import { recordingLog } from './redis.ts';
import { createSlackSender, type SlackSender } from './slack-sender.ts';
import { untilTrue } from './deployment.ts';

const SIGNING_SECRET = 'slack-signing-secret-0123456789';
const BOT_TOKEN = 'xoxb-test-0123456789';

/** Slack, a scripted chat service and a Redis, all fresh before each test, without a running bot. */
export interface SlackDeployment {
  readonly redisServer: EmbeddedRedis;
  /** The test's own connection. */
  readonly redis: RedisClient;
  readonly chat: ScriptedChatServer;
  readonly slack: FakeSlack;
  readonly sender: SlackSender;
  readonly botUrl: string;
  /** The settings of a bot without sign-in for this deployment. */
  readonly env: Record<string, string>;
  /** Log lines of the bots in this process. */
  readonly lines: string[];
  /** Starts a bot in this process. @param clock the bot's own clock; defaults to the deployment's */
  startBot(more?: Record<string, string>, clock?: () => number): Promise<App>;
  stopBots(): Promise<void>;
  /**
   * Starts a bot as a separate process, which ends with the test. A worker alone gets a separate port.
   * @param mayBeKilled whether it may be killed before it has reported that it is up
   */
  startProcess(more?: Record<string, string>, mayBeKilled?: boolean): Promise<ParleyProcess>;
  /** The current texts of the bot's messages in a channel. */
  textsIn(channel: string): string[];
  /** Waits until the bot's messages of a channel are exactly these. */
  untilShown(channel: string, texts: string[], limitMs?: number): Promise<void>;
}

export interface SlackDeploymentOptions {
  /** The Redis address of the bots, if not the deployment's own server. */
  redisUrl?: () => string;
  /** The clock of the bots in this process and of Slack. */
  nowMs?: () => number;
  /** Time in ms for which the bots in this process expect Slack to execute abandoned calls. Defaults to almost none. */
  settlesWithinMs?: number;
}

export function useSlackDeployment(options: SlackDeploymentOptions = {}): SlackDeployment {
  const apps: App[] = [];
  const processes: ParleyProcess[] = [];
  const { log, lines } = recordingLog();
  const { nowMs = Date.now, settlesWithinMs: postSettlesWithinMs = -3_000 } = options;
  const deployment = { lines, startBot, stopBots, startProcess, textsIn, untilShown } as {
    -readonly [Name in keyof SlackDeployment]: SlackDeployment[Name];
  };

  beforeAll(async () => {
    deployment.redisServer = await startEmbeddedRedis();
    deployment.redis = connectRedis({ urls: [deployment.redisServer.url] }, 'wait', log, 'test');
    deployment.chat = await startScriptedChatServer();
  }, 60_000);
  afterAll(async () => {
    await deployment.chat.stop();
    deployment.redis.disconnect();
    await deployment.redisServer.stop();
  });
  beforeEach(async () => {
    await deployment.redis.flushall();
    deployment.slack = await startFakeSlack(BOT_TOKEN);
    deployment.chat.calls.splice(0);
    lines.splice(0);
    const port = await freePort();
    deployment.botUrl = `http://127.0.0.1:${port}`;
    deployment.sender = createSlackSender(`${deployment.botUrl}/webhooks/slack`, SIGNING_SECRET, nowMs);
    deployment.env = {
      PORT: String(port),
      HOST: '127.0.0.1',
      AI_MARK: 'no',
      PUBLIC_URL: deployment.botUrl,
      REDIS_URL: options.redisUrl?.() ?? deployment.redisServer.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      CHAT_BASE_URL: deployment.chat.baseUrl,
      CHAT_API_KEY: 'sk-test-0123456789',
      SIGN_IN: 'off',
      SLACK_SIGNING_SECRET: SIGNING_SECRET,
      SLACK_BOT_TOKEN: BOT_TOKEN,
      SLACK_API_URL: `${deployment.slack.apiUrl}/`,
      REPLY_MIN_EDIT_MS: '20',
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'debug',
    };
  });
  afterEach(async () => {
    await stopBots();
    for (const one of processes) one.kill('SIGKILL');
    await Promise.all(processes.splice(0).map(({ ended }) => ended));
    await deployment.slack.close();
  });

  async function startBot(more: Record<string, string> = {}, clock = nowMs): Promise<App> {
    const settings = loadSettings({ env: { ...deployment.env, ...more }, cwd: process.cwd() });
    if (!settings.ok) throw new Error(settings.faults.map(({ message }) => message).join('\n'));
    const { config, secrets } = settings;
    const app = await startApp({
      ...{ config, secrets, log, postSettlesWithinMs },
      nowMs: clock,
      onFatal: (words) => log.fatal(words),
    });
    apps.push(app);
    return app;
  }

  async function stopBots(): Promise<void> {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  }

  async function startProcess(more: Record<string, string> = {}, mayBeKilled = false): Promise<ParleyProcess> {
    const port: Record<string, string> = more['ROLES'] === 'worker' ? { PORT: String(await freePort()) } : {};
    const started = await startParleyProcess({
      env: { ...deployment.env, ...port, ...more },
      until: /is running|has started/,
      mayBeKilled,
    });
    processes.push(started);
    return started;
  }

  function textsIn(channel: string): string[] {
    return deployment.slack.messages.filter((message) => message.channel === channel).map(({ text }) => text);
  }

  async function untilShown(channel: string, texts: string[], limitMs?: number): Promise<void> {
    const isShown = () => JSON.stringify(textsIn(channel)) === JSON.stringify(texts);
    await untilTrue(isShown, limitMs).catch(() => expect(textsIn(channel)).toEqual(texts));
  }
  return deployment;
}
