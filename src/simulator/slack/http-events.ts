import { createHmac, randomInt } from 'node:crypto';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { callHttp, HttpCallError, type HttpResponse } from '../../shared/http/call-http.ts';
import type { DeliveryResult } from '../protocol.ts';
import type { Attempt, EventTransport, Outgoing, Retry } from './event-client.ts';
import type { SlackTiming } from './timing.ts';
import { APP_ID, TEAM_ID } from './workspace.ts';
import { parseJson } from '../../shared/parse-json.ts';

export interface HttpEventsOptions {
  /** Base URL: `{botUrl}/webhooks/slack` is called. */
  botUrl: string;
  signingSecret: string;
  nowMs: NowMs;
  timing: SlackTiming;
  /** Aborted when the messenger stops. */
  signal: AbortSignal;
}

const FORM = 'application/x-www-form-urlencoded';

/** Slack's calls to the app's webhook: signed, and acknowledged within three seconds by any 2xx (PLATFORM_FACTS.md slack-deliveries). */
export class HttpEvents implements EventTransport {
  readonly #options: HttpEventsOptions;

  constructor(options: HttpEventsOptions) {
    this.#options = options;
  }

  /** Whether the bot answers a signed challenge with it, as plain text or JSON. */
  async isAvailable(timeoutMs: number): Promise<boolean> {
    const challenge = String(randomInt(1, 2 ** 47));
    try {
      const body = JSON.stringify({ type: 'url_verification', challenge, team_id: TEAM_ID, api_app_id: APP_ID });
      const answer = await this.#post(body, timeoutMs);
      return answer.status === 200 && challengeIn(answer.body.toString()) === challenge;
    } catch {
      return false;
    }
  }

  /** `X-Slack-No-Retry: 1` on a failure ends the retries. */
  async attempt(outgoing: Outgoing, retry?: Retry): Promise<Attempt> {
    const headers = retry && { 'x-slack-retry-num': String(retry.attempt), 'x-slack-retry-reason': retry.reason };
    try {
      const { body, contentType } = bodyOf(outgoing);
      const answer = await this.#post(body, this.#options.timing.ackTimeoutMs, { ...contentType, ...headers });
      if (answer.status >= 200 && answer.status < 300) return { result: { kind: 'silent' } };
      const result: DeliveryResult = { kind: 'refused', status: answer.status };
      return answer.headers['x-slack-no-retry'] === '1' ? { result } : { result, retryReason: 'http_error' };
    } catch (error) {
      this.#options.signal.throwIfAborted();
      return error instanceof HttpCallError && error.code === 'timeout'
        ? { result: { kind: 'timeout' }, retryReason: 'http_timeout' }
        : { result: { kind: 'unreachable' }, retryReason: 'connection_failed' };
    }
  }

  #post(body: string, timeoutMs: number, headers: Record<string, string> = {}): Promise<HttpResponse> {
    const { botUrl, signingSecret, nowMs, signal } = this.#options;
    const timestamp = String(Math.floor(nowMs() / SECOND_MS));
    return callHttp(`${botUrl.replace(/\/$/, '')}/webhooks/slack`, {
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': signEvent(signingSecret, timestamp, body),
        ...headers,
      },
      timeoutMs,
      signal,
    });
  }
}

/** Events are JSON; commands and clicks are forms. */
function bodyOf({ type, payload }: Outgoing): { body: string; contentType?: Record<string, string> } {
  if (type === 'events_api') return { body: JSON.stringify(payload) };
  const form = type === 'slash_commands' ? payload : { payload: JSON.stringify(payload) };
  return { body: new URLSearchParams(form).toString(), contentType: { 'content-type': FORM } };
}

/** Signature: `v0=` and the hex HMAC-SHA256 over `v0:timestamp:body`. */
export function signEvent(signingSecret: string, timestamp: string, body: string): string {
  return `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function challengeIn(body: string): string {
  const { challenge } = (parseJson(body) ?? {}) as { challenge?: unknown };
  // Plain text is accepted too.
  return typeof challenge === 'string' ? challenge : body.trim();
}
