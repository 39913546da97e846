import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { WebhookResponse, Welcome } from '../platform.ts';
import type { PulledReply } from '../../domain/reply.ts';
import { encryptText, signText, type AesKey } from './crypto.ts';
import { offersCard } from './offers-card.ts';
import { welcomeReply } from './welcome.ts';

/** The empty reply to WeCom, if there is nothing to show. */
export const EMPTY_ANSWER: WebhookResponse = { status: 200, body: '' };

/** Builds the encrypted, signed answers to one callback. */
export interface AnswerBuilder {
  /** Answers a message: names the stream to poll and requests feedback. Empty if there is nothing to show. */
  firstAnswer(reply: PulledReply | undefined): WebhookResponse;
  /** Answers a poll with the whole text so far. */
  poll(reply: PulledReply): WebhookResponse;
  /** Answers a person's first entry of the day. */
  welcome(welcome: Welcome): WebhookResponse;
}

interface AnswerOptions {
  token: string;
  aesKey: AesKey;
  nowMs: NowMs;
  /** The nonce of the callback, repeated in the answer. */
  nonce: string;
  /** Link of a card's body; without it there are no cards. */
  cardUrl?: string;
}

export function createCallbackAnswers(options: AnswerOptions): AnswerBuilder {
  const stream = ({ replyId, content, finished }: PulledReply, extra: object = {}, card?: object) =>
    seal(options, {
      msgtype: card ? 'stream_with_template_card' : 'stream',
      stream: { id: replyId, finish: finished, content, ...extra },
      template_card: card,
    });
  return {
    firstAnswer: (reply) => (reply ? stream(reply, { feedback: { id: reply.replyId } }) : EMPTY_ANSWER),
    poll(reply) {
      const card = offersCard(reply.offers, options.cardUrl);
      return card ? stream(reply, {}, card) : stream(reply);
    },
    welcome: (welcome) => seal(options, welcomeReply(welcome, options.cardUrl)),
  };
}

function seal({ token, aesKey, nowMs, nonce }: AnswerOptions, reply: object): WebhookResponse {
  const timestampSec = Math.floor(nowMs() / SECOND_MS);
  const encrypt = encryptText(aesKey, JSON.stringify(reply));
  const msgsignature = signText(token, { timestamp: String(timestampSec), nonce, encrypt });
  const body = JSON.stringify({ encrypt, msgsignature, timestamp: timestampSec, nonce });
  return { status: 200, contentType: 'application/json; charset=utf-8', body };
}
