import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { Deferred } from '../../shared/deferred.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import { MIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import type { BotConnections } from '../protocol.ts';
import type { ProtocolTrace } from '../protocol-trace.ts';
import { ShortLivedSecrets } from '../short-lived-secrets.ts';
import type { Attempt, EventTransport, Outgoing, Retry } from './event-client.ts';
import type { SlackTiming } from './timing.ts';
import { APP_ID } from './workspace.ts';
import { asObject, parseJson } from '../../shared/parse-json.ts';

export interface SocketEventsOptions {
  /** The messenger's own address. */
  url(): string;
  timing: SlackTiming;
  trace: ProtocolTrace;
  nowMs(): number;
  /** Aborted when the messenger stops. */
  signal: AbortSignal;
}

const PATH = '/slack-socket';
/** Maximum sockets of an app (PLATFORM_FACTS.md slack-socket). */
const MAX_SOCKETS = 10;
const TICKET_LIFE_MS = 30 * SECOND_MS;
const PING_EVERY_MS = 10 * SECOND_MS;

interface OpenSocket {
  socket: WebSocket;
  timers: NodeJS.Timeout[];
}

/**
 * Server side of Slack's Socket Mode: single-use addresses, `hello`, envelopes that are acknowledged on the connection that
 * delivered them, a warning before a connection is replaced, and any of several sockets for each event.
 */
export class SocketEvents implements EventTransport, BotConnections {
  readonly #options: SocketEventsOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MIB_BYTES, perMessageDeflate: false });
  readonly #tickets: ShortLivedSecrets<true>;
  readonly #open = new Set<OpenSocket>();
  /** Keyed by envelope id. */
  readonly #awaited = new Map<string, Deferred>();
  #next = 0;
  openedCount = 0;

  constructor(options: SocketEventsOptions) {
    this.#options = options;
    this.#tickets = new ShortLivedSecrets(options.nowMs, TICKET_LIFE_MS);
    options.signal.addEventListener('abort', () => this.#closeAll(), { once: true });
  }

  /** Response of `apps.connections.open`: an address that is valid for one connection, for half a minute. */
  makeAddress(): string {
    return `${this.#options.url().replace(/^http/, 'ws')}${PATH}?ticket=${this.#tickets.issue(true)}`;
  }

  /** Handles an upgrade request. @returns whether the request was for a socket */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): boolean {
    const url = new URL(request.url ?? '', 'http://messenger');
    if (url.pathname !== PATH) return false;
    if (!this.#tickets.take(url.searchParams.get('ticket') ?? '')) {
      stream.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return true;
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#accept(socket));
    return true;
  }

  get size(): number {
    return this.#open.size;
  }

  isAvailable(): Promise<boolean> {
    return Promise.resolve(this.#open.size > 0);
  }

  async attempt(outgoing: Outgoing, retry?: Retry): Promise<Attempt> {
    const { timing, signal } = this.#options;
    signal.throwIfAborted();
    // Slack promises no distribution; this is round robin.
    const sockets = [...this.#open];
    const chosen = sockets[this.#next++ % Math.max(1, sockets.length)];
    if (!chosen) return { result: { kind: 'unreachable' }, retryReason: 'connection_failed' };
    const id = randomToken(18);
    const acknowledged = new Deferred();
    this.#awaited.set(id, acknowledged);
    const { type, payload } = outgoing;
    const again = { retry_attempt: retry?.attempt ?? 0, retry_reason: retry?.reason ?? '' };
    chosen.socket.send(
      JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: type !== 'events_api', ...again }),
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), timing.ackTimeoutMs)));
    const outcome = await Promise.race([acknowledged.promise, late]);
    clearTimeout(timer);
    this.#awaited.delete(id);
    signal.throwIfAborted();
    return outcome === 'late'
      ? { result: { kind: 'timeout' }, retryReason: 'timeout' }
      : { result: { kind: 'silent' } };
  }

  disconnectAll(): void {
    for (const { socket } of this.#open) socket.terminate();
  }

  replaceAll(reason: string): void {
    for (const open of this.#open) this.#leave(open, reason);
  }

  #accept(socket: WebSocket): void {
    const { timing } = this.#options;
    const open: OpenSocket = { socket, timers: [] };
    if (this.#open.size >= MAX_SOCKETS) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }));
      socket.close();
      return;
    }
    this.#open.add(open);
    this.openedCount += 1;
    open.timers.push(
      setInterval(() => socket.ping(), PING_EVERY_MS),
      setTimeout(() => this.#leave(open, 'warning'), timing.socketLifeMs),
    );
    socket.on('message', (data) => this.#onMessage(textOf(data)));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const timer of open.timers) clearTimeout(timer);
      this.#open.delete(open);
    });
    const lifeSec = Math.round(timing.socketLifeMs / SECOND_MS);
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: this.#open.size,
        connection_info: { app_id: APP_ID },
        debug_info: { host: 'messenger', approximate_connection_time: lifeSec },
      }),
    );
  }

  /** A warning is sent ten seconds before the end; with any other reason the socket closes immediately. */
  #leave(open: OpenSocket, reason: string): void {
    const { socket, timers } = open;
    socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'messenger' } }));
    if (reason === 'warning')
      return void timers.push(
        setTimeout(() => this.#leave(open, 'refresh_requested'), this.#options.timing.socketWarningMs),
      );
    this.#open.delete(open);
    socket.close();
  }

  #onMessage(text: string): void {
    const id = envelopeIn(text);
    const awaited = id === undefined ? undefined : this.#awaited.get(id);
    if (awaited) return awaited.resolve();
    // A late acknowledgement is not the app's fault; an invalid one is.
    if (id === undefined) this.#options.trace.recordViolation('a frame that acknowledges nothing');
  }

  #closeAll(): void {
    for (const awaited of this.#awaited.values()) awaited.resolve();
    for (const { socket } of this.#open) socket.terminate();
    this.#server.close();
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString('utf8') : '';
}

function envelopeIn(text: string): string | undefined {
  const { envelope_id: id } = asObject(parseJson(text)) ?? {};
  return typeof id === 'string' ? id : undefined;
}
