import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MIB_BYTES, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { callHttp, HttpCallError, type HttpResponse } from '../../shared/http/call-http.ts';
import type { DeliveryResult } from '../protocol.ts';
import type { Timing } from '../timing.ts';
import type { DeliveryClient } from './bot-transport.ts';
import { decodeAesKey, isSignedBy, openMessage, sealMessage, signParts } from './crypto.ts';
import { parseJson } from '../../shared/parse-json.ts';

/** The bot's callback address and secrets, as configured on the platform. */
export interface BotAddress {
  /** Base URL: `{botUrl}/webhooks/wecom` is called. */
  botUrl: string;
  token: string;
  aesKey: string;
  aiBotId: string;
}

export interface BotClientOptions {
  bot: BotAddress;
  nowMs: NowMs;
  timing: Timing;
  /** Whether a 503 is retried. It is not certain that the platform does so; timeouts are always retried. */
  retryOn503: boolean;
  /** Aborted when the messenger stops. */
  signal: AbortSignal;
}

const ATTEMPTS = 3;
const MAX_ANSWER_BYTES = MIB_BYTES;

/** The platform's calls to the bot: signed and encrypted, with responses validated as strictly as the platform does. */
export class BotClient implements DeliveryClient {
  readonly answersLater = false;
  readonly #options: BotClientOptions;
  readonly #key: Buffer;

  constructor(options: BotClientOptions) {
    this.#options = options;
    this.#key = decodeAesKey(options.bot.aesKey);
  }

  /**
   * Whether the bot proves within a second that it has the keys: it must return the decrypted `echostr` and nothing else.
   */
  async verifyUrl(): Promise<boolean> {
    const secret = String(randomInt(1, 2 ** 47));
    const echostr = sealMessage(this.#key, secret);
    const url = this.#signedUrl(echostr, newNonce());
    url.searchParams.set('echostr', echostr);
    try {
      const answer = await this.#request(url, { timeoutMs: this.#options.timing.verifyTimeoutMs });
      return answer.status === 200 && answer.body.toString() === secret;
    } catch {
      return false;
    }
  }

  /**
   * Makes one callback with up to three attempts, according to PLATFORM_FACTS.md wecom-callbacks: timeouts and network
   * failures are retried with the same msgid, any other response is final.
   */
  async deliver(payload: object): Promise<DeliveryResult> {
    const { timing, signal, retryOn503 } = this.#options;
    let result: DeliveryResult = { kind: 'unreachable' };
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const startedMs = performance.now();
      result = await this.callOnce(payload);
      const isTransient =
        result.kind === 'timeout' ||
        result.kind === 'unreachable' ||
        (retryOn503 && result.kind === 'refused' && result.status === 503);
      if (!isTransient || attempt === ATTEMPTS) return result;
      await pause(Math.max(0, timing.retryAfterMs - (performance.now() - startedMs)), undefined, { signal });
    }
    return result;
  }

  /** Makes one attempt, with a fresh timestamp, nonce and encryption. @throws AbortError only when the messenger stops */
  async callOnce(payload: object): Promise<DeliveryResult> {
    const encrypt = sealMessage(this.#key, JSON.stringify(payload));
    const nonce = newNonce();
    try {
      const body = JSON.stringify({ encrypt });
      const timeoutMs = this.#options.timing.answerTimeoutMs;
      return this.#readAnswer(await this.#request(this.#signedUrl(encrypt, nonce), { body, timeoutMs }), nonce);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (error instanceof HttpCallError && error.code === 'too_large')
        return { kind: 'invalid', reason: 'the answer is larger than 1 MB' };
      return { kind: error instanceof HttpCallError && error.code === 'timeout' ? 'timeout' : 'unreachable' };
    }
  }

  #signedUrl(encrypt: string, nonce: string): URL {
    const { bot, nowMs } = this.#options;
    const timestamp = String(Math.floor(nowMs() / SECOND_MS));
    const url = new URL(`${bot.botUrl.replace(/\/$/, '')}/webhooks/wecom`);
    url.searchParams.set('msg_signature', signParts({ token: bot.token, timestamp, nonce, encrypt }));
    url.searchParams.set('timestamp', timestamp);
    url.searchParams.set('nonce', nonce);
    return url;
  }

  #request(url: URL, { body, timeoutMs }: { body?: string; timeoutMs: number }): Promise<HttpResponse> {
    const type = body === undefined ? undefined : { 'content-type': 'application/json' };
    return callHttp(url, { body, headers: type, timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal: this.#options.signal });
  }

  #readAnswer(answer: HttpResponse, nonce: string): DeliveryResult {
    if (answer.status !== 200) return { kind: 'refused', status: answer.status };
    if (answer.body.length === 0) return { kind: 'silent' };
    const envelope = parseJson(answer.body);
    if (!isEnvelope(envelope))
      return { kind: 'invalid', reason: 'the answer is not {encrypt, msgsignature, timestamp, nonce}' };
    if (envelope.nonce !== nonce) return { kind: 'invalid', reason: 'the nonce is not the one of the request' };
    const signed = { ...envelope, token: this.#options.bot.token, timestamp: String(envelope.timestamp) };
    if (!isSignedBy(signed, envelope.msgsignature)) return { kind: 'invalid', reason: 'the signature is wrong' };
    try {
      const reply = parseJson(openMessage(this.#key, envelope.encrypt));
      if (reply === undefined) return { kind: 'invalid', reason: 'the decrypted answer is not JSON' };
      return isEmptyObject(reply) ? { kind: 'silent' } : { kind: 'reply', reply };
    } catch {
      return { kind: 'invalid', reason: 'the answer does not decrypt' };
    }
  }
}

interface Envelope {
  encrypt: string;
  /** Without an underscore, unlike in the request's query. */
  msgsignature: string;
  timestamp: number;
  nonce: string;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null) return false;
  const { encrypt, msgsignature, timestamp, nonce } = value as Partial<Record<keyof Envelope, unknown>>;
  return (
    typeof encrypt === 'string' &&
    typeof msgsignature === 'string' &&
    typeof timestamp === 'number' &&
    Number.isInteger(timestamp) &&
    typeof nonce === 'string'
  );
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function newNonce(): string {
  return randomBytes(5).toString('hex');
}
