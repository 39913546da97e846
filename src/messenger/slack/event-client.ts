import { createHmac, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { got, TimeoutError, type Response } from 'got';
import { SECOND_MS, type NowMs } from '../../base/clock.ts';
import type { DeliveryResult } from '../protocol.ts';
import type { SlackTiming } from './timing.ts';
import { APP_ID, TEAM_ID } from './workspace.ts';

export interface EventClientOptions {
  /** `{botUrl}/webhooks/slack` is called. */
  botUrl: string;
  signingSecret: string;
  nowMs: NowMs;
  timing: SlackTiming;
  /** Aborted at the messenger's stop. */
  signal: AbortSignal;
}

type RetryReason = 'http_timeout' | 'connection_failed' | 'http_error';

/** Slack's calls to the bot: signed, acknowledged within three seconds by any 2xx, else repeated (PLATFORM_FACTS.md slack-deliveries). */
export class EventClient {
  readonly #options: EventClientOptions;

  constructor(options: EventClientOptions) {
    this.#options = options;
  }

  /** Whether the bot answers a signed challenge with it, plain or in JSON. */
  async verifyUrl(timeoutMs: number): Promise<boolean> {
    const challenge = String(randomInt(1, 2 ** 47));
    try {
      const body = JSON.stringify({ type: 'url_verification', challenge, team_id: TEAM_ID, api_app_id: APP_ID });
      const answer = await this.#post(body, timeoutMs);
      return answer.statusCode === 200 && challengeIn(answer.body) === challenge;
    } catch {
      return false;
    }
  }

  /** One event with its repetitions: at once, after a minute, after five. `X-Slack-No-Retry: 1` with a failure ends them. */
  async deliver(envelope: object): Promise<DeliveryResult> {
    const { timing, signal } = this.#options;
    let tried = await this.#try(envelope, {});
    for (const [index, pauseMs] of timing.retryPausesMs.entries()) {
      if (tried.retryReason === undefined) break;
      await pause(pauseMs, undefined, { signal });
      const headers = { 'x-slack-retry-num': String(index + 1), 'x-slack-retry-reason': tried.retryReason };
      tried = await this.#try(envelope, headers);
    }
    return tried.result;
  }

  /** One attempt. @throws AbortError at the messenger's stop only */
  async deliverOnce(envelope: object): Promise<DeliveryResult> {
    return (await this.#try(envelope, {})).result;
  }

  /** A form (the app's command). Slack tells it once. @throws AbortError at the messenger's stop only */
  async deliverForm(fields: Record<string, string>): Promise<DeliveryResult> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (await this.#try(new URLSearchParams(fields), headers)).result;
  }

  async #try(
    envelope: object,
    headers: Record<string, string>,
  ): Promise<{ result: DeliveryResult; retryReason?: RetryReason }> {
    try {
      const body = envelope instanceof URLSearchParams ? envelope.toString() : JSON.stringify(envelope);
      const answer = await this.#post(body, this.#options.timing.ackTimeoutMs, headers);
      if (answer.statusCode >= 200 && answer.statusCode < 300) return { result: { kind: 'silent' } };
      const result: DeliveryResult = { kind: 'refused', status: answer.statusCode };
      return answer.headers['x-slack-no-retry'] === '1' ? { result } : { result, retryReason: 'http_error' };
    } catch (error) {
      this.#options.signal.throwIfAborted();
      return error instanceof TimeoutError
        ? { result: { kind: 'timeout' }, retryReason: 'http_timeout' }
        : { result: { kind: 'unreachable' }, retryReason: 'connection_failed' };
    }
  }

  #post(body: string, timeoutMs: number, headers: Record<string, string> = {}): Promise<Response<string>> {
    const { botUrl, signingSecret, nowMs, signal } = this.#options;
    const timestamp = String(Math.floor(nowMs() / SECOND_MS));
    return got(`${botUrl.replace(/\/$/, '')}/webhooks/slack`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': signEvent(signingSecret, timestamp, body),
        ...headers,
      },
      timeout: { request: timeoutMs },
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      signal,
    });
  }
}

/** `v0=` and the hex HMAC-SHA256 over `v0:timestamp:body`. */
export function signEvent(signingSecret: string, timestamp: string, body: string): string {
  return `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function challengeIn(body: string): string {
  try {
    const parsed = JSON.parse(body) as { challenge?: unknown } | null;
    if (typeof parsed === 'object' && typeof parsed?.challenge === 'string') return parsed.challenge;
  } catch {
    // Plain text is as good.
  }
  return body.trim();
}
