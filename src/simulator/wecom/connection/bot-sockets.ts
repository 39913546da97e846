import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { inBackground } from '../../../shared/in-background.ts';
import { MIB_BYTES } from '../../../shared/clock.ts';
import { randomToken, sameSecret } from '../../../shared/crypto/ids.ts';
import type { BotConnections, MessengerContext } from '../../protocol.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from '../api-result.ts';
import type { ConnectionTiming } from './connection-timing.ts';
import { readFrame, type CallbackCmd, type CommandFrame } from './frames.ts';

export interface BotSocketsOptions {
  side: Pick<MessengerContext, 'trace' | 'background'>;
  timing: ConnectionTiming;
  /** The bot's credentials for the connection. */
  bot: { botId: string; secret: string };
  /** Executes a command of a subscribed connection. @param connectionId identifies the connection during its lifetime */
  perform(frame: CommandFrame, connectionId: string): Promise<ApiResult>;
  /** Event for a connection that is replaced by another. */
  farewell(): object;
  /** Called when a connection becomes the one that receives messages. */
  onSubscribed(): void;
  /** Called when a connection no longer receives messages. */
  onGone(connectionId: string): void;
}

export const CONNECTION_PATH = '/wecom-connection';
/** A file chunk in base64, plus overhead. */
const MAX_FRAME_BYTES = 2 * MIB_BYTES;

interface OpenSocket {
  readonly id: string;
  readonly socket: WebSocket;
  wasSubscribed: boolean;
  /** The connection transfers nothing although the socket is open. */
  isFrozen: boolean;
  silence?: NodeJS.Timeout;
}

/**
 * Server side of the long connection: subscriptions, delivery of messages, replacement of connections, and acknowledgements.
 */
export class BotSockets implements BotConnections {
  readonly #options: BotSocketsOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  readonly #open = new Set<OpenSocket>();
  /** The newest subscribed connection: only it receives messages. */
  #newest: OpenSocket | undefined;
  openedCount = 0;
  refusedCount = 0;
  clickCard?: BotConnections['clickCard'];

  constructor(options: BotSocketsOptions) {
    this.#options = options;
    options.side.background.signal.addEventListener('abort', () => this.#end(), { once: true });
  }

  /** Handles an upgrade request. @returns whether the request was for a socket */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): boolean {
    if (new URL(request.url ?? '', 'http://messenger').pathname !== CONNECTION_PATH) return false;
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#accept(socket));
    return true;
  }

  get size(): number {
    return this.#open.size;
  }

  get isSubscribed(): boolean {
    return this.#newest !== undefined;
  }

  /** Sends a message or event to the newest subscribed connection. @returns its id; undefined if there is none */
  bring(cmd: CallbackCmd, reqId: string, body: object): string | undefined {
    const open = this.#newest;
    if (open) this.#send(open, { cmd, headers: { req_id: reqId }, body });
    return open?.id;
  }

  disconnectAll(): void {
    for (const { socket } of this.#open) socket.terminate();
  }

  /** Tells all connections that they were replaced, although there is no other one, and closes them soon after. */
  replaceAll(): void {
    for (const open of this.#open) this.#replace(open);
  }

  forgetSubscription(): void {
    const open = this.#newest;
    if (open) this.#leave(open);
  }

  freezeAll(): void {
    for (const open of this.#open) open.isFrozen = true;
  }

  #accept(socket: WebSocket): void {
    const open: OpenSocket = { id: randomToken(12), socket, wasSubscribed: false, isFrozen: false };
    this.#open.add(open);
    this.openedCount += 1;
    this.#awaitSilence(open);
    const failed = (error: Error) => this.#options.side.background.failed(error, 'a frame of the bot was lost');
    socket.on('message', (data) => {
      if (!open.isFrozen) inBackground(() => this.#onFrame(open, data), failed);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(open.silence);
      this.#open.delete(open);
      this.#leave(open);
    });
  }

  async #onFrame(open: OpenSocket, data: RawData): Promise<void> {
    const { timing, side } = this.#options;
    const frame = readFrame(data);
    if (!frame) return side.trace.recordViolation('a frame that is not a command');
    this.#awaitSilence(open);
    const result = await this.#judge(open, frame);
    const acknowledge = () => {
      this.#send(open, { headers: { req_id: frame.reqId }, ...result });
      // Nothing is sent before the bot knows that it is subscribed.
      if (frame.cmd === 'aibot_subscribe' && result.errcode === 0) this.#subscribe(open);
    };
    if (timing.ackDelayMs > 0) setTimeout(acknowledge, timing.ackDelayMs).unref();
    else acknowledge();
  }

  async #judge(open: OpenSocket, frame: CommandFrame): Promise<ApiResult> {
    if (frame.cmd === 'aibot_subscribe') return this.#judgeSecret(frame.body);
    // Pings do not reveal that the server has forgotten a subscription.
    if (frame.cmd === 'ping' && open.wasSubscribed) return apiOk();
    if (open !== this.#newest) return apiFault(ERRCODE.notSubscribed, 'aibot websocket not subscribed');
    return this.#options.perform(frame, open.id);
  }

  #judgeSecret(body: unknown): ApiResult {
    const { bot } = this.#options;
    const { bot_id: botId, secret } = (body ?? {}) as { bot_id?: unknown; secret?: unknown };
    if (botId === bot.botId && typeof secret === 'string' && secret !== '' && sameSecret(secret, bot.secret))
      return apiOk();
    this.refusedCount += 1;
    return apiFault(ERRCODE.badBotSecret, 'invalid bot_id or secret');
  }

  #subscribe(open: OpenSocket): void {
    if (!this.#open.has(open) || this.#newest === open) return;
    const earlier = this.#newest;
    open.wasSubscribed = true;
    this.#newest = open;
    if (earlier) this.#replace(earlier);
    this.#options.onSubscribed();
  }

  /** The connection is notified immediately and closed later; its frames are ignored meanwhile. */
  #replace(open: OpenSocket): void {
    this.#send(open, this.#options.farewell());
    this.#leave(open);
    setTimeout(() => open.socket.close(), this.#options.timing.kickedCloseMs).unref();
  }

  #leave(open: OpenSocket): void {
    if (this.#newest === open) this.#newest = undefined;
    this.#options.onGone(open.id);
  }

  #awaitSilence(open: OpenSocket): void {
    clearTimeout(open.silence);
    open.silence = setTimeout(() => open.socket.terminate(), this.#options.timing.silenceMs);
  }

  #send({ socket, isFrozen }: OpenSocket, frame: object): void {
    if (!isFrozen && socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
  }

  #end(): void {
    this.disconnectAll();
    this.#server.close();
  }
}
