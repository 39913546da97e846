import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../src/bot/app/local/embedded-redis.ts';
import { startFakeSlack, type FakeSlack } from '../test/support/fake-slack.ts';
import { seededRandom } from '../test/support/seeded-random.ts';
import { startChatStandIn, type ChatStandIn, type ChatStandInOptions } from './chat-stand-in.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { deliveryOf } from './drain.ts';
import type { Ledger } from './ledger.ts';
import { InstanceProcess } from './instance-process.ts';
import { createPoison, type Poison } from './poison.ts';
import { createRolls, type Rolls } from './rolling.ts';
import { startRedisInstance, type RedisInstance } from './redis-instance.ts';
import { startSignInService } from './sign-in-service.ts';
import { startFrontDoor } from './front-door.ts';
import { startSlackSockets, type SlackSockets } from './slack-sockets.ts';
import { startRawConnections, type RawConnections } from '../test/support/raw-wecom-connections.ts';
import { createWriteRefusals, type WriteRefusals } from './write-refusals.ts';
import { startTcpProxy, type TcpProxy } from '../test/support/tcp-proxy.ts';

/** A process to start, and the point at which it crashes, if any. */
/** Named for builds of before `defaults/`, which have no files to fall back to. */
const SHIPPED_FILES = {
  POLICY_FILE: 'defaults/policy.json',
  TOOLS_FILE: 'defaults/tools.json',
  SCENES_FILE: 'defaults/scenes.json',
  PROMPTS_FILE: 'defaults/prompts.json',
  MODELS_FILE: 'defaults/models.json',
  CHAT_SYSTEM_PROMPT_FILE: 'defaults/system-prompt.md',
};

export interface InstancePlan {
  role: 'receiver' | 'worker';
  /** Number of lives, from the first on, in which it crashes at the point. */
  failPoint?: { place: string; lives: number };
  /**
   * Its vital signs are measured: it is never killed, frozen or stopped, and has Node's inspector. Its links fail like
   * others'.
   */
  isWatched?: true;
  /** Entry point of another build. Defaults to `dist/main.js`. */
  main?: string;
  /** A module that node loads before it. */
  preload?: string;
}

export interface TestbedOptions {
  seed: string;
  instances: readonly InstancePlan[];
  /** Whether the chat service injects faults, and whether these include stalls of 60 s. */
  chatFails: 'never' | 'briefly' | 'also-stalls';
  /** Whether people have to sign in, at the real service; otherwise sign-in is off. */
  signsIn?: boolean;
  /** Maximum pause of the chat service before each word, in milliseconds. Defaults to 60. */
  wordEveryMs?: number;
  /** Duration of the chat service's answers instead. */
  answerMs?: ChatStandInOptions['answerMs'];
  /** Whether its answers contain text that is hard for a markdown parser. */
  isHostile?: boolean;
  /** Whether the engine uses many dialects. */
  isOdd?: boolean;
  /** Whether wall clocks may be wrong. */
  clocksStep?: boolean;
  /** Defaults to the testbed's own redis-server. */
  startRedis?: () => Promise<RedisInstance>;
  /** Settings of every process, in addition to the testbed's own. */
  settings?: Record<string, string>;
  /** Whether WeCom delivers over the bot's single connection; otherwise it calls the receivers. */
  isConnected?: boolean;
  /** A directory for the complete output of the processes. */
  logFolder?: string;
}

/** Links that a process needs; `platform` is the link from the platforms to a receiver. */
export type LinkName = 'redis' | 'chat' | 'slack' | 'platform';

/** One process with its links, each through a separate proxy. */
export interface Instance {
  process: InstanceProcess;
  role: 'receiver' | 'worker';
  links: Record<LinkName, TcpProxy>;
  isWatched: boolean;
}

/** The product and its whole environment, as real processes. */
export interface Testbed {
  ledger: Ledger;
  redis: RedisInstance;
  chat: ChatStandIn;
  slack: FakeSlack;
  refusals: WriteRefusals;
  poison: Poison;
  gateway: Gateway;
  rolls: Rolls;
  instances: Instance[];
  wecom: { token: string; aesKey: string; replyUrl: string };
  connections: RawConnections | undefined;
  sockets: SlackSockets | undefined;
  /** Processes that ended unexpectedly, with their last output. */
  endedByThemselves: string[];
  close(): Promise<void>;
}

export const SLACK_SECRET = 'slack-signing-secret-0123456789';
const SLACK_TOKEN = 'xoxb-chaos-0123456789';

/** Starts everything. Only processes started here are ever signalled. */
export async function startTestbed(options: TestbedOptions): Promise<Testbed> {
  const ledger: Ledger = {
    events: [],
    messages: [],
    samplings: [],
    summaries: [],
    resumptions: [],
    injectedFaults: [],
    poisons: [],
  };
  if (options.logFolder !== undefined) mkdirSync(options.logFolder, { recursive: true });
  const redis = await (options.startRedis ?? startRedisInstance)();
  const instances: Instance[] = [];
  const poison = createPoison(ledger, seededRandom(`${options.seed} poison`));
  const chat = await startChatStandIn({
    ledger,
    random: seededRandom(`${options.seed} chat`),
    mayFail: options.chatFails !== 'never',
    mayStall: options.chatFails === 'also-stalls',
    ...(options.wordEveryMs === undefined ? {} : { wordEveryMs: options.wordEveryMs }),
    ...(options.answerMs === undefined ? {} : { answerMs: options.answerMs }),
    ...(options.isHostile === undefined ? {} : { isHostile: options.isHostile }),
    isOdd: options.isOdd ?? false,
    began: (sampling) => poison.meet(sampling),
  });
  const slack = await startFakeSlack(SLACK_TOKEN);
  const refusals = createWriteRefusals(seededRandom(`${options.seed} refusals`), slack);
  slack.meetCall = (call) => refusals.ofSlack(call);
  const later = await startReplyAddress(ledger, refusals);
  const endedByThemselves: string[] = [];
  const frontDoor = options.signsIn === true ? await startFrontDoor() : undefined;
  const service = frontDoor && (await startSignInService(redis.port, frontDoor.url));
  const wecom = {
    token: randomBytes(8).toString('hex'),
    aesKey: randomBytes(32).toString('base64').slice(0, 43),
    replyUrl: later.url,
  };
  const connections = options.isConnected === true ? await startRawConnections() : undefined;
  const sockets =
    options.isConnected === true ? await startSlackSockets(seededRandom(`${options.seed} sockets`)) : undefined;
  slack.socketUrl = sockets?.url;
  const secretKey = randomBytes(32).toString('base64');
  const shared = {
    HOST: '127.0.0.1',
    SECRET_KEY: secretKey,
    ...(service ? service.env : { SIGN_IN: 'off' }),
    SHUTDOWN_GRACE_SEC: '10',
    ...(connections
      ? {
          WECOM_CONNECT: 'connection',
          WECOM_BOT_ID: 'aibot-chaos',
          WECOM_BOT_SECRET: 'connection-secret',
          WECOM_WS_URL: connections.url,
        }
      : { WECOM_BOT_TOKEN: wecom.token, WECOM_BOT_AES_KEY: wecom.aesKey }),
    WECOM_BOT_NAME: 'Parley',
    WECOM_API_URL: wecom.replyUrl,
    ...(sockets
      ? { SLACK_CONNECT: 'socket', SLACK_APP_TOKEN: 'xapp-1-chaos' }
      : { SLACK_SIGNING_SECRET: SLACK_SECRET }),
    SLACK_BOT_TOKEN: SLACK_TOKEN,
    REPLY_MIN_EDIT_MS: '250',
    CHAT_MODELS: 'svc-plus,svc-max',
    ...SHIPPED_FILES,
    // Small prompts, so that conversations are summarized while processes die.
    CHAT_PROMPT_TOKENS: '1000',
    LOG_FORMAT: 'json',
    // With the lines of all turns, which name the instances that ended them.
    LOG_LEVEL: options.logFolder === undefined ? 'info' : 'debug',
    ...options.settings,
  };
  const targets = { chat: chat.port, slack: Number(new URL(slack.apiUrl).port) };
  const startInstance = async (plan: InstancePlan, index: number): Promise<Instance & { url: string }> => {
    const { role, failPoint, isWatched = false, preload, main } = plan;
    const name = `${role}${index + 1}`;
    const nodeArgs = [
      ...(isWatched ? ['--inspect=127.0.0.1:0'] : ['--import', './test/support/die-of-response.mjs']),
      ...(preload === undefined ? [] : ['--import', preload]),
    ];
    const isArmed = (life: string) => failPoint !== undefined && numberOf(life) <= failPoint.lives;
    const port = await freePort();
    const links = {
      redis: await startTcpProxy(() => redis.portFor(name)),
      chat: await startTcpProxy(targets.chat),
      slack: await startTcpProxy(targets.slack),
      platform: await startTcpProxy(port),
    };
    const url = `http://127.0.0.1:${links.platform.port}`;
    const env = {
      ...shared,
      ROLES: role,
      PORT: String(port),
      PUBLIC_URL: frontDoor?.url ?? url,
      REDIS_URL: redis.urls ?? `redis://127.0.0.1:${links.redis.port}`,
      CHAT_BASE_URL: `http://127.0.0.1:${links.chat.port}/v1`,
      SLACK_API_URL: `http://127.0.0.1:${links.slack.port}/api/`,
    };
    const endedByItself = (life: string, signal: string, detail: string) => {
      if (failPoint && isArmed(life) && signal === 'SIGKILL')
        ledger.injectedFaults.push({ atMs: Date.now(), kind: 'kill', target: life, detail: failPoint.place });
      else if (signal === 'SIGKILL' && ledger.poisons.length > 0)
        ledger.injectedFaults.push({ atMs: Date.now(), kind: 'kill', target: life, detail: 'by a question' });
      else endedByThemselves.push(detail);
    };
    const log = options.logFolder === undefined ? {} : { logFile: join(options.logFolder, `${name}.log`) };
    const build = main === undefined ? {} : { main };
    const envOfLife = (life: string): Record<string, string> => ({
      CHAT_API_KEY: `sk-chaos-${life}`,
      ...(failPoint && isArmed(life) ? { PARLEY_FAIL_POINT: `${failPoint.place}:exit` } : {}),
    });
    const printed = (life: string, line: string) => {
      const instance = /"instance":"(\w+)"/.exec(line)?.[1];
      if (instance !== undefined) (ledger.instances ??= {})[instance] = life;
      noteResumption(ledger, life, line);
    };
    const hasSteppingClock = options.clocksStep ?? false;
    const told = { envOfLife, printed, endedByItself };
    const process = new InstanceProcess({ name, env, nodeArgs, hasSteppingClock, ...told, ...log, ...build });
    return { process, role, links, isWatched, url };
  };
  const started = await Promise.all(options.instances.map(startInstance));
  instances.push(...started);
  const receivers = started
    .filter(({ role }) => role === 'receiver')
    .map(({ process: instance, url }) => ({ instance, url }));
  const gateway = createGateway(seededRandom(`${options.seed} gateway`), receivers);
  frontDoor?.openTo(gateway);
  return {
    ledger,
    redis,
    chat,
    slack,
    refusals,
    poison,
    instances,
    wecom,
    connections,
    sockets,
    endedByThemselves,
    gateway,
    rolls: createRolls(secretKey),
    async close() {
      await Promise.all(instances.map((instance) => instance.process.close()));
      await Promise.all(instances.flatMap(({ links }) => Object.values(links).map((link) => link.close())));
      await Promise.all([frontDoor?.close(), service?.close()]);
      await Promise.all([
        chat.close(),
        slack.close(),
        later.close(),
        connections?.stop(),
        sockets?.close(),
        redis.close(),
      ]);
    },
  };
}

/** Receivers and workers without fail points. */
export function plainInstances(receivers: number, workers: number): InstancePlan[] {
  return [
    ...Array.from({ length: receivers }, (): InstancePlan => ({ role: 'receiver' })),
    ...Array.from({ length: workers }, (): InstancePlan => ({ role: 'worker' })),
  ];
}

function numberOf(life: string): number {
  return Number(life.split('.').at(-1));
}

/** The product logs each turn that it takes over from a dead worker, with a hash of its newest message's id. */
function noteResumption({ resumptions, events }: Ledger, life: string, line: string): void {
  if (!line.includes('a turn resumes')) return;
  const turnId = /"trace":"([0-9a-f]+)"/.exec(line)?.[1];
  const turn = events.findLast((event) => deliveryOf(event) === turnId)?.id;
  if (turn !== undefined) resumptions.push({ atMs: Date.now(), worker: life, turn });
}

/** WeCom's `response_url`: a request to it is a further visible message of the event in its path. */
async function startReplyAddress(
  { messages, events }: Ledger,
  refusals: WriteRefusals,
): Promise<{ url: string; close(): Promise<void> }> {
  const used = new Set<number>();
  const server = createServer((request, response) => {
    const answer = (body: object) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    void readJson(request).then((body) => {
      const id = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('event'));
      const text = (body as { markdown?: { content?: string } }).markdown?.content ?? '';
      const refusedWith = refusals.ofWecom(String(id));
      if (refusedWith !== 0) return answer({ errcode: refusedWith, errmsg: 'no' });
      const isFirst = !used.has(id);
      used.add(id);
      if (isFirst)
        messages.push({
          conversation: events[id - 1]?.conversation ?? 0,
          event: id,
          snapshots: [{ atMs: Date.now(), text }],
          isFinal: true,
        });
      answer({ errcode: isFirst ? 0 : 60_140, errmsg: isFirst ? 'ok' : 'used' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}');
}
