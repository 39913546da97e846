import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import type { WecomOptions } from '../../src/simulator/wecom/index.ts';
import { startAtTest, until } from './messenger-at-test.ts';

export const BOT_ID = 'AIBOT-C';
export const BOT_SECRET = 'secret-of-the-long-connection';

/** The delays of the long connection, 100 times shorter where a test only waits. */
export const FAST_CONNECTION = { ackDelayMs: 0, kickedCloseMs: 1_000, eventAnswerMs: 1_500 };

type ConnectedAtTest = Omit<Parameters<typeof startAtTest>[0], 'botUrl' | 'connection'> &
  Partial<Omit<NonNullable<WecomOptions['connection']>, 'botId'>>;

export function startConnected({ redis, nowMs, encryptUserIds, timing, ...connection }: ConnectedAtTest) {
  return startAtTest({
    ...{ redis, nowMs, encryptUserIds, botUrl: 'http://127.0.0.1:9' },
    connection: { botId: BOT_ID, secret: BOT_SECRET, ...connection, timing: { ...FAST_CONNECTION, ...timing } },
  });
}

export const socketUrlOf = ({ url }: Messenger) => `${url.replace(/^http/, 'ws')}/wecom-connection`;

export interface Frame {
  cmd?: string;
  headers: { req_id: string };
  body?: {
    msgid: string;
    msgtype: string;
    text?: { content: string };
    event?: { eventtype: string } & Record<string, unknown>;
    [field: string]: unknown;
  };
  errcode?: number;
  errmsg?: string;
}

/** A bot that sends and reads raw frames. */
export class RawBot {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  closed = false;
  #count = 0;

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as Frame));
    this.socket.on('close', () => (this.closed = true));
  }

  static async open(messenger: Messenger): Promise<RawBot> {
    const bot = new RawBot(socketUrlOf(messenger));
    await once(bot.socket, 'open');
    return bot;
  }

  /** Opens a bot that is subscribed. */
  static async subscribed(messenger: Messenger): Promise<RawBot> {
    const bot = await RawBot.open(messenger);
    await bot.subscribe();
    await until(() => messenger.driver.isBotReachable(), 'the bot is there');
    return bot;
  }

  subscribe(secret = BOT_SECRET, botId = BOT_ID): Promise<Frame> {
    return this.send('aibot_subscribe', { bot_id: botId, secret });
  }

  /** @returns the acknowledgement */
  async send(cmd: string, body?: object, reqId = `${cmd}_${(this.#count += 1)}`): Promise<Frame> {
    const before = this.#acks(reqId).length;
    this.socket.send(JSON.stringify({ cmd, headers: { req_id: reqId }, body }));
    await until(() => this.#acks(reqId).length > before || this.closed, `${cmd} is acknowledged`);
    return this.#acks(reqId)[before] ?? { headers: { req_id: reqId } };
  }

  /** A snapshot of a growing answer. */
  stream(reqId: string, id: string, content: string, finish = false, more: object = {}): Promise<Frame> {
    return this.send('aibot_respond_msg', { msgtype: 'stream', stream: { id, finish, content, ...more } }, reqId);
  }

  markdown(reqId: string, content: string): Promise<Frame> {
    return this.send('aibot_respond_msg', { msgtype: 'markdown', markdown: { content } }, reqId);
  }

  push(chatid: string, content: string, more: object = {}): Promise<Frame> {
    return this.send('aibot_send_msg', { chatid, msgtype: 'markdown', markdown: { content }, ...more });
  }

  get messages(): Frame[] {
    return this.frames.filter(({ cmd }) => cmd === 'aibot_msg_callback');
  }

  get events(): Frame[] {
    return this.frames.filter(({ cmd }) => cmd === 'aibot_event_callback');
  }

  /** The req_id of a message. */
  async told(messageId: string): Promise<string> {
    const find = () => this.messages.find(({ body }) => body?.msgid === messageId);
    await until(() => find() !== undefined, 'the message came');
    return find()?.headers.req_id ?? '';
  }

  #acks(reqId: string): Frame[] {
    return this.frames.filter(({ cmd, headers }) => cmd === undefined && headers.req_id === reqId);
  }
}

/** An event of WeCom's own client, or the result of a call. */
interface Told {
  type: 'authenticated' | 'disconnected' | 'error' | 'message' | 'event' | 'done' | 'failed';
  frame?: Frame;
  message?: string;
  id?: number;
  result?: Frame;
}

/** WeCom's own client, in a separate process. */
export class BotProcess {
  readonly told: Told[] = [];
  readonly #process: ChildProcess;
  #calls = 0;

  constructor(messenger: Messenger, secret = BOT_SECRET) {
    const program = fileURLToPath(new URL('../support/wecom-bot-client.mjs', import.meta.url));
    const args = [program, socketUrlOf(messenger), BOT_ID, secret];
    this.#process = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.#process.stdout!).on('line', (line) => this.told.push(JSON.parse(line) as Told));
  }

  async heard(what: string, fits: (told: Told) => boolean): Promise<Told> {
    // A process may start slowly on a busy machine.
    await until(() => this.told.some(fits), `the client heard: ${what}`, 20_000);
    return this.told.find(fits)!;
  }

  /** Calls a method of the client. @returns its result */
  async call(method: string, ...args: unknown[]): Promise<Told> {
    const id = (this.#calls += 1);
    this.#process.stdin!.write(`${JSON.stringify({ id, call: method, args })}\n`);
    return this.heard(method, (told) => told.id === id);
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }
}
