import type { NowMs } from '../../shared/clock.ts';
import { inSpan, isTracing } from '../../shared/tracing/tracing.ts';
import type { Delivery, Platform } from '../platforms/platform.ts';
import { createMissingReplies } from '../reply/missing-replies.ts';
import { acceptMessage, type MessageOptions } from './accept-message.ts';
import { applyAmendment, type AmendmentOptions } from './apply-amendment.ts';
import { answerPoll, type PollOptions } from './answer-poll.ts';
import type { Arrival, DeliveryOf, Handled } from './arrival.ts';
import { DeliveryDeadline } from './delivery-deadline.ts';
import { suggestPrompts, welcomeOf, type GreetingOptions } from './greet.ts';
import { rateAnswer, type RatingOptions } from './rate-answer.ts';
import { stopAnswer, type StopOptions } from './stop-answer.ts';

export interface HandleDeliveryOptions
  extends MessageOptions, AmendmentOptions, RatingOptions, StopOptions, GreetingOptions, Omit<PollOptions, 'missing'> {
  nowMs: NowMs;
}

/** @param startedMs when the delivery arrived, by `performance.now()` */
export type HandleDelivery = (platform: Platform, delivery: Delivery, startedMs: number) => Promise<Handled>;

/**
 * Passes each kind of verified delivery to its handler. Answers 200 only once a message is stored; an unwanted event is
 * never an error (SECURITY.md quiet-ignorance).
 */
export function createHandleDelivery(options: HandleDeliveryOptions): HandleDelivery {
  const forPolls = { ...options, missing: createMissingReplies() };
  return async (platform, delivery, startedMs) => {
    const arrival = { platform, deadline: new DeliveryDeadline(options.redis, platform, startedMs) };
    switch (delivery.kind) {
      case 'refused':
        return { answer: { status: delivery.status, body: '' }, outcome: 'refused' };
      case 'handshake':
      case 'ignored':
        return { answer: delivery.answer, outcome: delivery.kind };
      case 'message':
        return isTracing()
          ? acceptInSpan(options, arrival, { delivery, startedMs })
          : acceptMessage(options, arrival, delivery);
      case 'poll':
        return answerPoll(forPolls, arrival, delivery);
      case 'stop':
        return stopAnswer(options, arrival, delivery);
      case 'amendment':
        return applyAmendment(options, arrival, delivery);
      case 'feedback':
        return rateAnswer(options, arrival, delivery);
      case 'entered-chat':
        return { answer: delivery.answer(await welcomeOf(options, platform, delivery)), outcome: 'event' };
      case 'opened-chat':
        suggestPrompts(options, platform, delivery);
        return { answer: delivery.answer, outcome: 'event' };
    }
  };
}

/** The first span of a message. Ids of people and chats are not recorded. */
function acceptInSpan(
  options: HandleDeliveryOptions,
  arrival: Arrival,
  { delivery, startedMs }: { delivery: DeliveryOf<'message'>; startedMs: number },
): Promise<Handled> {
  const startedAtMs = options.nowMs() - (performance.now() - startedMs);
  const attributes = { 'parley.platform': arrival.platform.name, 'parley.chat': delivery.message.chat.kind };
  return inSpan('receive', { kind: 'server', startedAtMs, attributes }, async (span) => {
    const handled = await acceptMessage(options, arrival, delivery);
    const { outcome, deliveryId } = handled;
    const isFault = outcome === 'not-stored';
    span.set({ 'parley.outcome': outcome, 'parley.delivery': deliveryId, 'error.type': isFault ? outcome : undefined });
    return handled;
  });
}
