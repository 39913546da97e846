import { WebSocket } from 'ws';
import { asError } from '../../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../../shared/clock.ts';
import { Deferred } from '../../../../shared/deferred.ts';
import { randomToken } from '../../../../shared/crypto/ids.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { openWebSocket, decodeTextFrame } from '../../web-socket.ts';
import { NOT_SUBSCRIBED, REFUSED_SECRET } from './codes.ts';
import { readFrame, type Frame } from './read-frame.ts';

/** Timeouts and intervals; tests shorten them. */
export interface BotSocketTiming {
  /** Time limit from opening a connection to the subscription's answer. Milliseconds. */
  subscribedWithinMs: number;
  /** Interval between pings; a connection silent for two of them counts as dead. Milliseconds. */
  pingEveryMs: number;
  /** How long the answer to a frame is awaited. Milliseconds. */
  answerWithinMs: number;
  /**
   * How long a refusal of an answer's final text is retried if it may pass; longer than WeCom's one-minute limits.
   * Milliseconds.
   */
  refusalsPassWithinMs: number;
}

export const BOT_SOCKET_TIMING: BotSocketTiming = {
  subscribedWithinMs: 5 * SECOND_MS,
  pingEveryMs: 30 * SECOND_MS,
  answerWithinMs: 5 * SECOND_MS,
  refusalsPassWithinMs: 90 * SECOND_MS,
};

export interface BotSocketOptions {
  url: string;
  botId: string;
  secret: string;
  timing: BotSocketTiming;
  /** Called for each message and event, with its connection, which `open` may not have returned yet; must not throw. */
  onCallback(callback: Extract<Frame, { kind: 'callback' }>, from: BotSocket): void;
}

/** Why a connection failed. `refused`: the bot's id or secret is wrong, and a retry is useless. */
export class SubscriptionError extends Error {
  readonly isRefused: boolean;

  constructor(reason: string, isRefused: boolean) {
    super(reason);
    this.isRefused = isRefused;
  }
}

/** WeCom's errcode for a frame, 0 if it was taken; undefined if no answer came in time. */
export type FrameAnswer = number | undefined;

/** WeCom's answer to a frame, including its body. */
export interface WholeAnswer {
  errcode: number;
  body: unknown;
}

const MAX_SILENT_PINGS = 2;
/** Number of unanswered frames in a row after which the connection counts as dead. */
const MAX_UNANSWERED = 3;
/** End reason when another connection has replaced this one; WeCom reports it at once. */
export const REPLACED = 'replaced';
const CLOSE_WITHIN_MS = SECOND_MS;

/**
 * One connection of WeCom's AI bot: transport only (SECURITY.md connections-accept-alike). Uses `ws` directly: the vendor's
 * client waits forever for an unanswered subscription, credits a late answer to the next frame, and gives up after ten
 * tries (PLATFORM_FACTS.md wecom-connection).
 */
export class BotSocket {
  readonly #socket: WebSocket;
  readonly #options: BotSocketOptions;
  readonly #leaving = new Deferred<string>();
  readonly #ended = new Deferred<string>();
  /** Unanswered frames by request id, oldest first: an answer names only the request. */
  readonly #awaited = new Map<string, Deferred<WholeAnswer | undefined>[]>();
  readonly #pinging: NodeJS.Timeout;
  #silentPings = 0;
  #unanswered = 0;
  #isOver = false;

  private constructor(options: BotSocketOptions) {
    this.#options = options;
    const { timing } = options;
    this.#socket = openWebSocket(options.url, timing.subscribedWithinMs);
    this.#pinging = setInterval(() => this.#ping(), timing.pingEveryMs);
    this.#socket.on('message', (data, isBinary) => this.#onMessage(decodeTextFrame(data, isBinary)));
    this.#socket.on('error', (error) => this.#end(asError(error).message.slice(0, 128)));
    this.#socket.on('close', (code) => this.#end(`closed with ${code}`));
  }

  /**
   * Connects and subscribes, which replaces any other connection of this bot.
   * @returns once WeCom delivers here @throws NotSubscribed
   */
  static async open(options: BotSocketOptions): Promise<BotSocket> {
    const socket = new BotSocket(options);
    const { botId, secret, timing } = options;
    const timer = setTimeout(() => socket.#end('no answer'), timing.subscribedWithinMs);
    try {
      const isOpen = await socket.#opened();
      const body = { bot_id: botId, secret };
      const errcode = isOpen ? await socket.send('aibot_subscribe', newReqId('aibot_subscribe'), body) : undefined;
      if (errcode === 0) return socket;
      socket.#end(errcode === undefined ? 'no answer' : `errcode ${errcode}`);
      throw new SubscriptionError(await socket.ended, errcode === REFUSED_SECRET);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves with the reason when nothing more may be sent here: the connection was replaced or has ended. */
  get leaving(): Promise<string> {
    return this.#leaving.promise;
  }

  /** Resolves with the reason once nothing more is received. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /**
   * Sends a frame, after all earlier ones.
   * @param onLate called if the answer arrives after the time limit
   * @returns WeCom's errcode; undefined if no answer came in time, or none can
   */
  async send(cmd: string, reqId: string, body: object, onLate?: (errcode: number) => void): Promise<FrameAnswer> {
    return (await this.ask(cmd, reqId, body, onLate))?.errcode;
  }

  /** Like `send`, for frames whose answer has a body. */
  async ask(
    cmd: string,
    reqId: string,
    body: object,
    onLate?: (errcode: number) => void,
  ): Promise<WholeAnswer | undefined> {
    if (!this.isOpen) return undefined;
    const answer = new Deferred<WholeAnswer | undefined>();
    const behind = this.#awaited.get(reqId) ?? [];
    behind.push(answer);
    this.#awaited.set(reqId, behind);
    this.#socket.send(JSON.stringify({ cmd, headers: { req_id: reqId }, body }));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#options.timing.answerWithinMs);
    });
    const answered = await Promise.race([answer.promise, late]);
    clearTimeout(timer);
    if (!answered) {
      this.#unanswered += 1;
      if (onLate) inBackground(async () => answer.promise.then((late) => late && onLate(late.errcode)));
    }
    if (this.#unanswered >= MAX_UNANSWERED) this.#end('no answers');
    if (answered?.errcode === NOT_SUBSCRIBED) this.#end('not subscribed any more');
    return answered;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Bytes sent that have not left this process. */
  get waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#socket.close(1_000);
    await settledWithin([this.ended], CLOSE_WITHIN_MS);
    this.#end('closed');
  }

  async #opened(): Promise<boolean> {
    const opened = new Deferred<boolean>();
    this.#socket.once('open', () => opened.resolve(true));
    return Promise.race([opened.promise, this.ended.then(() => false)]);
  }

  #onMessage(text: string): void {
    this.#silentPings = 0;
    const frame = readFrame(text);
    if (frame.kind === 'answer') this.#onAnswer(frame);
    else if (frame.kind === 'callback' && isReplacement(frame)) this.#leaving.resolve(REPLACED);
    else if (frame.kind === 'callback') this.#options.onCallback(frame, this);
  }

  #onAnswer({ reqId, errcode, body }: Extract<Frame, { kind: 'answer' }>): void {
    this.#unanswered = 0;
    const waiting = this.#awaited.get(reqId);
    waiting?.shift()?.resolve({ errcode, body });
    if (waiting?.length === 0) this.#awaited.delete(reqId);
  }

  /**
   * Counts timer ticks instead of elapsed time: a process that was frozen reads its buffered frames before it counts a
   * second tick.
   */
  #ping(): void {
    this.#silentPings += 1;
    if (this.#silentPings > MAX_SILENT_PINGS) return this.#end('silent');
    if (!this.isOpen) return;
    this.#socket.send(JSON.stringify({ cmd: 'ping', headers: { req_id: newReqId('ping') } }));
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#pinging);
    this.#leaving.resolve(reason);
    this.#ended.resolve(reason);
    for (const answers of this.#awaited.values()) for (const answer of answers) answer.resolve(undefined);
    this.#awaited.clear();
    this.#socket.terminate();
  }
}

/** A new request id in the format of WeCom's client. */
export function newReqId(cmd: string): string {
  return `${cmd}_${randomToken(12)}`;
}

function isReplacement({ isEvent, body }: Extract<Frame, { kind: 'callback' }>): boolean {
  const event = (body as { event?: { eventtype?: unknown } } | undefined)?.event;
  return isEvent && event?.eventtype === 'disconnected_event';
}
