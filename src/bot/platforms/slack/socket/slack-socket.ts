import { WebSocket } from 'ws';
import { asError } from '../../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../../shared/clock.ts';
import { Deferred } from '../../../../shared/deferred.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { openWebSocket, decodeTextFrame } from '../../web-socket.ts';
import { readFrame, type Envelope } from './read-frame.ts';

/** Timeouts and intervals; tests shorten them. */
export interface SocketTiming {
  /** Time limit from opening a connection to Slack's `hello`. Milliseconds. */
  helloWithinMs: number;
  /** Interval between pings; a connection silent for two of them counts as dead. Milliseconds. */
  pingEveryMs: number;
}

export const SOCKET_TIMING: SocketTiming = { helloWithinMs: 10 * SECOND_MS, pingEveryMs: 10 * SECOND_MS };

export interface SlackSocketOptions {
  /** Valid for one connection. */
  url: string;
  timing: SocketTiming;
  /** @returns whether the delivery may be acknowledged. Must not reject */
  take(envelope: Envelope): Promise<boolean>;
}

/** Maximum deliveries being processed at once; further ones wait in the connection's buffer, which slows Slack down. */
const MAX_IN_WORK = 256;
const MAX_SILENT_PINGS = 2;
/** Slack waits three seconds for an acknowledgement. */
const ACK_WITHIN_MS = 3 * SECOND_MS;
/** Slack leaves TCP open after the closing handshake. */
const CLOSE_WITHIN_MS = SECOND_MS;

/**
 * One connection of Slack's Socket Mode: transport only (SECURITY.md connections-accept-alike). Uses `ws` directly: the
 * vendor's client closes a connection before it opens the next, and ends the process on an envelope without an event
 * (PLATFORM_FACTS.md slack-socket).
 */
export class SlackSocket {
  readonly #socket: WebSocket;
  readonly #options: SlackSocketOptions;
  readonly #hello = new Deferred();
  readonly #leaving = new Deferred<string>();
  readonly #ended = new Deferred<string>();
  readonly #inWork = new Set<Promise<void>>();
  readonly #helloTimer: NodeJS.Timeout;
  readonly #pinging: NodeJS.Timeout;
  #silentPings = 0;

  private constructor(options: SlackSocketOptions) {
    this.#options = options;
    const { helloWithinMs, pingEveryMs } = options.timing;
    this.#socket = openWebSocket(options.url, helloWithinMs);
    this.#helloTimer = setTimeout(() => this.#end('no hello'), helloWithinMs);
    this.#pinging = setInterval(() => this.#ping(), pingEveryMs);
    this.#socket.on('message', (data, isBinary) => this.#onMessage(decodeTextFrame(data, isBinary)));
    for (const sign of ['ping', 'pong'] as const) this.#socket.on(sign, () => (this.#silentPings = 0));
    this.#socket.on('error', (error) => this.#end(asError(error).message.slice(0, 128)));
    this.#socket.on('close', (code) => this.#end(`closed with ${code}`));
  }

  /** Connects. @returns once Slack has sent `hello`, after which it delivers here. @throws Error if that does not happen */
  static async open(options: SlackSocketOptions): Promise<SlackSocket> {
    const socket = new SlackSocket(options);
    const why = await Promise.race([socket.#hello.promise, socket.leaving]);
    if (typeof why === 'string') throw new Error(why);
    return socket;
  }

  /** Resolves with the reason when another connection should replace this one. */
  get leaving(): Promise<string> {
    return this.#leaving.promise;
  }

  /** Resolves with the reason once nothing more is received. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /**
   * Closes the connection after received deliveries are acknowledged. Called when it was replaced, or when the process
   * stops.
   */
  async retire(): Promise<void> {
    await settledWithin([...this.#inWork], ACK_WITHIN_MS);
    this.#socket.close(1_000);
    await settledWithin([this.ended], CLOSE_WITHIN_MS);
    this.#end('retired');
  }

  #onMessage(text: string): void {
    this.#silentPings = 0;
    const frame = readFrame(text);
    if (frame.kind === 'hello') {
      clearTimeout(this.#helloTimer);
      this.#hello.resolve();
    } else if (frame.kind === 'disconnect') {
      this.#leaving.resolve(frame.reason);
    } else if (frame.kind === 'envelope') {
      this.#take(frame.envelope);
    }
  }

  #take(envelope: Envelope): void {
    const work = this.#options.take(envelope).then((isTaken) => {
      // An unacknowledged delivery is repeated over another connection.
      if (isTaken && this.#socket.readyState === WebSocket.OPEN)
        this.#socket.send(JSON.stringify({ envelope_id: envelope.id }));
    });
    this.#inWork.add(work);
    if (this.#inWork.size >= MAX_IN_WORK) this.#socket.pause();
    inBackground(() =>
      work.finally(() => {
        this.#inWork.delete(work);
        if (this.#socket.isPaused && this.#inWork.size < MAX_IN_WORK) this.#socket.resume();
      }),
    );
  }

  /**
   * Counts timer ticks, not elapsed time: a process that was frozen reads its buffered frames before it counts a second
   * tick.
   */
  #ping(): void {
    this.#silentPings += 1;
    if (this.#silentPings > MAX_SILENT_PINGS) return this.#end('silent');
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  #end(reason: string): void {
    clearTimeout(this.#helloTimer);
    clearInterval(this.#pinging);
    this.#leaving.resolve(reason);
    this.#ended.resolve(reason);
    this.#socket.terminate();
  }
}
