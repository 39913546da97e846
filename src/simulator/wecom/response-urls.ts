import { randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { claimOnce } from '../../shared/redis/claim-once.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from './api-result.ts';
import { readCard, type Card } from './read-card.ts';
import { MAX_CONTENT_BYTES } from './read-reply.ts';
import type { WholeMessage } from './shown-answers.ts';

interface ResponseGrant {
  messageId: string;
  untilMs: number;
}

/** Shows a complete message of the bot that answers a question. */
export type ShowDelayedAnswer = (question: StoredMessage, whole: WholeMessage) => Promise<unknown>;

/**
 * Single-use response URLs with which the bot can answer a message later: valid for one hour and one use (PLATFORM_FACTS.md
 * wecom-response-url).
 */
export class ResponseUrls {
  readonly #side: MessengerContext;
  readonly #redis: RedisClient;
  readonly #show: ShowDelayedAnswer;

  constructor(side: MessengerContext, redis: RedisClient, show: ShowDelayedAnswer) {
    this.#side = side;
    this.#redis = redis;
    this.#show = show;
  }

  /** Creates the secret part of a message's response URL. */
  async create(question: StoredMessage): Promise<string> {
    const { nowMs, timing } = this.#side;
    const code = randomToken(24);
    const grant: ResponseGrant = { messageId: question.id, untilMs: nowMs() + timing.responseUrlLifeMs };
    await this.#redis.set(
      keyOf(code),
      JSON.stringify(grant),
      'EX',
      Math.ceil(timing.responseUrlLifeMs / SECOND_MS) + 60,
    );
    return code;
  }

  /** Accepts the bot's later answer. An invalid body does not use up the URL. */
  async use(code: string, body: unknown): Promise<ApiResult> {
    const content = readDelayedAnswer(body);
    if (content.kind === 'refused') {
      this.#side.trace.recordViolation(content.reason);
      return apiFault(content.errcode, content.reason);
    }
    const stored = await claimOnce(this.#redis, keyOf(code));
    const grant = stored === undefined ? undefined : (JSON.parse(stored) as ResponseGrant);
    if (!grant || this.#side.nowMs() > grant.untilMs) {
      this.#side.trace.recordViolation('a response_url was used twice or after one hour');
      return apiFault(ERRCODE.badParameter, 'response_code is invalid, expired or used');
    }
    const question = await this.#side.store.get(grant.messageId).catch(() => undefined);
    if (!question) return apiFault(ERRCODE.badParameter, 'the message no longer exists');
    await this.#show(question, {
      text: content.text,
      feedbackId: content.feedbackId,
      card: content.card,
      quotes: true,
    });
    return apiOk();
  }
}

type LaterAnswer =
  | { kind: 'text'; text: string; feedbackId?: string; card?: Card }
  | { kind: 'refused'; errcode: number; reason: string };

/** Validates a complete answer. Pure. */
export function readDelayedAnswer(body: unknown): LaterAnswer {
  const {
    msgtype,
    markdown,
    template_card: card,
  } = (body ?? {}) as {
    msgtype?: unknown;
    markdown?: { content?: unknown; feedback?: { id?: unknown } };
    template_card?: unknown;
  };
  if (msgtype === 'template_card') {
    const read = readCard(card);
    return 'card' in read
      ? { kind: 'text', text: read.card.words, card: read.card }
      : { kind: 'refused', errcode: ERRCODE.badParameter, reason: read.refused };
  }
  const content = markdown?.content;
  if (msgtype !== 'markdown' || typeof content !== 'string' || content.trim() === '') {
    return {
      kind: 'refused',
      errcode: ERRCODE.badParameter,
      reason: 'a later answer must be markdown or a template card',
    };
  }
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    return {
      kind: 'refused',
      errcode: ERRCODE.tooLong,
      reason: `a later answer can have at most ${MAX_CONTENT_BYTES} bytes`,
    };
  }
  const feedbackId = markdown?.feedback?.id;
  return { kind: 'text', text: content, feedbackId: typeof feedbackId === 'string' ? feedbackId : undefined };
}

// Only a hash is stored, so that a reader of the store cannot answer as the bot.
const keyOf = (code: string) => `messenger:response:${sha256Hex(code)}`;
