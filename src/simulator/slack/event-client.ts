import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryResult } from '../protocol.ts';
import type { SlackTiming } from './timing.ts';

/** What Slack sends to an app: an event, a click, or a command. */
export type Outgoing =
  | { type: 'events_api' | 'interactive'; payload: object }
  | { type: 'slash_commands'; payload: Readonly<Record<string, string>> };

export type RetryReason = 'http_timeout' | 'connection_failed' | 'http_error' | 'timeout';

/** Reason and number of a retry. */
export interface Retry {
  attempt: number;
  reason: RetryReason;
}

/** Result of one attempt, with the reason for a retry. */
export interface Attempt {
  result: DeliveryResult;
  retryReason?: RetryReason;
}

/** Transport from Slack to an app: its webhook (`http-events.ts`) or a socket (`socket-events.ts`). */
export interface EventTransport {
  /** Whether the app is reachable and has Slack's keys. */
  isAvailable(timeoutMs: number): Promise<boolean>;
  /** @throws AbortError only when the messenger stops */
  attempt(outgoing: Outgoing, retry?: Retry): Promise<Attempt>;
}

export interface EventClientOptions {
  transport: EventTransport;
  timing: SlackTiming;
  /** Aborted when the messenger stops. */
  signal: AbortSignal;
}

/** Slack's calls to the bot, with their retries (PLATFORM_FACTS.md slack-deliveries). */
export class EventClient {
  readonly #options: EventClientOptions;

  constructor(options: EventClientOptions) {
    this.#options = options;
  }

  /** Whether the bot is reachable. */
  verifyUrl(timeoutMs: number): Promise<boolean> {
    return this.#options.transport.isAvailable(timeoutMs);
  }

  /** Sends an event with its retries: immediately, after a minute, after five. */
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

  /** Makes one attempt. @throws AbortError only when the messenger stops */
  async deliverOnce(envelope: object): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'events_api', payload: envelope })).result;
  }

  /** Sends a click, once. @throws AbortError only when the messenger stops */
  async deliverClick(payload: object): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'interactive', payload })).result;
  }

  /** Sends the app's command, once. @throws AbortError only when the messenger stops */
  async deliverForm(fields: Record<string, string>): Promise<DeliveryResult> {
    return (await this.#options.transport.attempt({ type: 'slash_commands', payload: fields })).result;
  }
}
