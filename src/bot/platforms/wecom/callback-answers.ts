import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { HttpAnswer, Welcome } from '../platform.ts';
import type { PulledReply } from '../../domain/reply.ts';
import { encryptText, signText } from './crypto.ts';
import { offersCard } from './offers-card.ts';
import { welcomeReply } from './welcome.ts';

/** "No reply": what WeCom is told whenever there is nothing to show. */
export const EMPTY_ANSWER: HttpAnswer = { status: 200, body: '' };

/** Builds the encrypted, signed answers to one callback. */
export interface AnswerBuilder {
  /** To a message: names the stream to poll and asks for feedback; empty when there is nothing to show. */
  firstAnswer(reply: PulledReply | undefined): HttpAnswer;
  /** To a poll: the whole text so far. */
  poll(reply: PulledReply): HttpAnswer;
  /** To somebody's first entry of the day. */
  welcome(welcome: Welcome): HttpAnswer;
}

interface AnswerOptions {
  token: string;
  aesKey: Buffer;
  nowMs: NowMs;
  /** The nonce of the callback, which goes back. */
  nonce: string;
  /** Where a tap on a card itself leads; without one there are no cards. */
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

function seal({ token, aesKey, nowMs, nonce }: AnswerOptions, reply: object): HttpAnswer {
  const timestampSec = Math.floor(nowMs() / SECOND_MS);
  const encrypt = encryptText(aesKey, JSON.stringify(reply));
  const msgsignature = signText(token, { timestamp: String(timestampSec), nonce, encrypt });
  const body = JSON.stringify({ encrypt, msgsignature, timestamp: timestampSec, nonce });
  return { status: 200, contentType: 'application/json; charset=utf-8', body };
}
