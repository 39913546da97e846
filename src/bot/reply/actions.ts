import { localize } from '../../shared/text/texts.ts';
import type { ReplyActions } from '../domain/reply.ts';
import { OFFER_TEXTS } from '../i18n/feedback-texts.ts';
import type { LiveReplyOptions, ReplyAction } from './live-reply.ts';

type Answered = Pick<LiveReplyOptions, 'deliveryId' | 'language'>;

/** Buttons shown while an answer grows. */
export function growingActions({ deliveryId: answer, language }: Answered): ReplyActions {
  return {
    answer,
    language,
    heading: localize(OFFER_TEXTS.heading, language),
    stop: localize(OFFER_TEXTS.stop, language),
  };
}

/** Buttons shown on a complete answer; undefined for none. */
export function finalActions(
  { deliveryId: answer, language }: Answered,
  offers: readonly ReplyAction[] = [],
): ReplyActions | undefined {
  if (offers.length === 0) return undefined;
  return {
    answer,
    language,
    heading: localize(OFFER_TEXTS.heading, language),
    retry: offers.includes('retry') ? localize(OFFER_TEXTS.retry, language) : undefined,
    rate: offers.includes('rate')
      ? { good: localize(OFFER_TEXTS.good, language), bad: localize(OFFER_TEXTS.bad, language) }
      : undefined,
  };
}
