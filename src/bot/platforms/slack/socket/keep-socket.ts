import { setTimeout as pause } from 'node:timers/promises';
import { asError } from '../../../../shared/coded-error.ts';
import { monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { abortable } from '../../../../shared/abortable.ts';
import type { ConnectionHandlers, Delivery, PlatformConnection } from '../../platform.ts';
import type { AppMethod } from '../app-rights.ts';
import type { SlackApi } from '../platform-api.ts';
import { textOf } from '../post-answer.ts';
import { reconnectPauseMs } from '../../web-socket.ts';
import type { Envelope } from './read-frame.ts';
import { SlackSocket, type SocketTiming } from './slack-socket.ts';

export interface KeepSocketOptions extends ConnectionHandlers {
  /** Slack's Web API with the app-level token. */
  api: SlackApi<AppMethod>;
  timing: SocketTiming;
  read(envelope: Envelope): Delivery;
}

/** Maximum time that a stop waits for received deliveries to be acknowledged. */
const CLOSE_WITHIN_MS = 5 * SECOND_MS;
const MAX_PAUSE_MS = 30 * SECOND_MS;
/** Minimum life of a connection that resets the failure count. */
const PROVEN_AFTER_MS = 30 * SECOND_MS;
/** Reasons that last until the operator enables Socket Mode or stops other programs of the app, so reconnects are slow. */
const SLOW_REASONS: ReadonlySet<string> = new Set(['link_disabled', 'too_many_websockets']);

type Opened = { socket: SlackSocket } | { refused: string } | { failed: string; waitMs?: number };

/**
 * Keeps one Slack socket open for this process; Slack distributes deliveries over the sockets of all processes. The next
 * socket is opened before the old one closes, so that nothing must be delivered again. Never retries a refused token.
 */
export function keepSocket(options: KeepSocketOptions): PlatformConnection {
  const keeper = new SocketKeeper(options);
  return { close: () => keeper.close() };
}

class SocketKeeper {
  readonly #options: KeepSocketOptions;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #current: SlackSocket | undefined;

  constructor(options: KeepSocketOptions) {
    this.#options = options;
    this.#ended = this.#run().catch((thrown: unknown) => {
      if (!this.#stop.signal.aborted) options.onChange({ state: 'refused', reason: asError(thrown).message });
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    const current = this.#current;
    this.#current = undefined;
    await settledWithin([this.#ended, ...(current ? [current.retire()] : [])], CLOSE_WITHIN_MS);
  }

  #hasStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !this.#hasStopped();) {
      const opened = await open(this.#options);
      if ('refused' in opened) return this.#refused(opened.refused);
      if ('failed' in opened) {
        failures += 1;
        if (!this.#current) this.#options.onChange({ state: 'closed', reason: opened.failed });
        await pause(Math.max(opened.waitMs ?? 0, reconnectPauseMs(failures)), undefined, { signal });
        continue;
      }
      const { socket } = opened;
      // Stopped while the socket was opening.
      if (this.#hasStopped()) return socket.retire();
      const openedMs = monotonicMs();
      this.#take(socket);
      const reason = await abortable(socket.leaving, signal);
      failures = monotonicMs() - openedMs < PROVEN_AFTER_MS ? failures + 1 : 0;
      // The first pause takes only seconds, because the reason may have passed; pauses grow while it lasts.
      if (SLOW_REASONS.has(reason)) failures = Math.max(failures, 2);
      await pause(reconnectPauseMs(failures, MAX_PAUSE_MS), undefined, { signal });
    }
  }

  /** Makes this the current socket and closes the previous one. */
  #take(socket: SlackSocket): void {
    const before = this.#current;
    this.#current = socket;
    if (before) inBackground(() => before.retire());
    else this.#options.onChange({ state: 'open' });
    inBackground(async () => {
      const reason = await socket.ended;
      if (this.#current !== socket) return;
      this.#current = undefined;
      this.#options.onChange({ state: 'closed', reason });
    });
  }

  #refused(reason: string): void {
    const current = this.#current;
    this.#current = undefined;
    if (current) inBackground(() => current.retire());
    this.#options.onChange({ state: 'refused', reason });
  }
}

/** Requests a single-use address from Slack and connects to it. */
async function open({ api, timing, take, read }: KeepSocketOptions): Promise<Opened> {
  const answer = await api.call('apps.connections.open', {});
  if (answer.kind === 'unauthorised') return { refused: answer.error };
  if (answer.kind === 'busy') return { failed: 'ratelimited', waitMs: answer.retryAfterMs };
  if (answer.kind === 'uncertain') return { failed: 'Slack did not answer' };
  if (answer.kind === 'error') return { failed: answer.error.slice(0, 64), waitMs: MAX_PAUSE_MS };
  const url = textOf(answer.body['url']);
  if (url === undefined || !/^wss?:\/\//.test(url)) return { failed: 'Slack returned no address' };
  try {
    return {
      socket: await SlackSocket.open({ url, timing, take: (envelope) => take(() => read(envelope)) }),
    };
  } catch (thrown) {
    return { failed: asError(thrown).message };
  }
}
