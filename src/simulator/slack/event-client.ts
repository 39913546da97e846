import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryResult } from '../protocol.ts';
import type { SlackTiming } from './timing.ts';

/** What Slack tells an app: an event, a click, or a command that was typed. */
export type Outgoing =
  | { type: 'events_api' | 'interactive'; payload: object }
  | { type: 'slash_commands'; payload: Readonly<Record<string, string>> };

export type RetryReason = 'http_timeout' | 'connection_failed' | 'http_error' | 'timeout';

/** Why and how often an event is told again. */
export interface Retry {
  attempt: number;
  reason: RetryReason;
}

/** One attempt: what came of it, and why it is to be repeated. */
export interface Attempt {
  result: DeliveryResult;
  retryReason?: RetryReason;
}

/** The way by which Slack reaches an app: its webhook (`http-events.ts`) or a socket of its own (`socket-events.ts`). */
export interface EventTransport {
  /** Whether the app is there and holds Slack's keys. */
  isThere(timeoutMs: number): Promise<boolean>;
  /** @throws AbortError at the messenger's stop only */
  attempt(outgoing: Outgoing, retry?: Retry): Promise<Attempt>;
}

export interface EventClientOptions {
  transport: EventTransport;
  timing: SlackTiming;
  /** Aborted at the messenger's stop. */
  signal: AbortSignal;
}

/** Slack's calls to the bot, with their repetitions (PLATFORM_FACTS.md slack-deliveries). */
export class EventClient {
  readonly #options: EventClientOptions;

  constructor(options: EventClientOptions) {
    this.#options = options;
  }

  /** Whether the bot is there. */
  verifyUrl(timeoutMs: number): Promise<boolean> {
    return this.#options.transport.isThere(timeoutMs);
  }

  /** One event with its repetitions: at once, after a minute, after five. */
  async deliver(envelope: object): Promise<DeliveryResult> {
    const { transport, timing, signal } = this.#options;
    const outgoing = { type: 'events_api', payload: envelope } as const;
    let tried = await transport.attempt(outgoing);
    for (const [index, pauseMs] of timing.retryPausesMs.entries()) {
      const { retryReason: reason } = tried;
      if (reason === undefined) break;
      await pause(pauseMs, undefined, { signal });
      tried = await transport.attempt(outgoing, { attempt: index + 1, reason });
    }
    return tried.result;
  }

  /** One attempt. @throws AbortError at the messenger's stop only */
  async deliverOnce(envelope: object): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'events_api', payload: envelope })).result;
  }

  /** A click. Slack tells it once. @throws AbortError at the messenger's stop only */
  async deliverClick(payload: object): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'interactive', payload })).result;
  }

  /** The app's command. Slack tells it once. @throws AbortError at the messenger's stop only */
  async deliverForm(fields: Record<string, string>): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'slash_commands', payload: fields })).result;
  }
}
