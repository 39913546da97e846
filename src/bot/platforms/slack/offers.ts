import type { Language } from '../../../shared/text/texts.ts';
import { FEEDBACK_REASONS, type FeedbackReason } from '../../domain/feedback.ts';
import { asDeliveryId, type DeliveryId } from '../../domain/ids.ts';
import type { ReplyActions } from '../../domain/reply.ts';

/*
 * Buttons of an answer as Slack blocks (PLATFORM_FACTS.md slack-buttons). A button's value names its answer and language. It
 * returns in a delivery that Slack signs, and contains nothing that a reader of the answer may not know.
 */

export const ACTIONS = {
  stop: 'parley_stop',
  retry: 'parley_retry',
  rate: 'parley_feedback',
  reason: 'parley_reason',
} as const;

export function offerBlocks(offers: ReplyActions | undefined): object[] {
  if (!offers) return [];
  const { stop, retry, rate } = offers;
  const buttons = [
    ...(stop === undefined ? [] : [button(ACTIONS.stop, stop, valueOf('stop', offers))]),
    ...(retry === undefined ? [] : [button(ACTIONS.retry, retry, valueOf('retry', offers))]),
  ];
  const rating = rate && {
    type: 'feedback_buttons',
    action_id: ACTIONS.rate,
    positive_button: { text: plain(rate.good), value: valueOf('good', offers) },
    negative_button: { text: plain(rate.bad), value: valueOf('bad', offers) },
  };
  return [
    ...(rating ? [{ type: 'context_actions', elements: [rating] }] : []),
    ...(buttons.length > 0 ? [{ type: 'actions', elements: buttons }] : []),
  ];
}

/** The question what is wrong with an answer, with one button per reason. */
export function reasonBlocks(
  question: string,
  labels: ReadonlyMap<FeedbackReason, string>,
  at: Pick<ReplyActions, 'answer' | 'language'>,
): object[] {
  // Slack requires a unique id for every action of a block.
  const buttons = [...labels].map(([reason, label]) =>
    button(`${ACTIONS.reason}_${reason}`, label, valueOf(reason, at)),
  );
  return [
    { type: 'section', text: plain(question) },
    { type: 'actions', elements: buttons },
  ];
}

/** The value of a pressed button. */
export interface PressedOffer {
  word: 'stop' | 'retry' | 'good' | 'bad' | FeedbackReason;
  answer: DeliveryId;
  language: Language;
}

const VALUE = /^(?<word>[a-z-]{3,12}) (?<language>en|zh) (?<answer>[0-9a-f]{40})$/;
const WORDS_OF: Readonly<Record<string, readonly string[]>> = {
  [ACTIONS.stop]: ['stop'],
  [ACTIONS.retry]: ['retry'],
  [ACTIONS.rate]: ['good', 'bad'],
  ...Object.fromEntries(FEEDBACK_REASONS.map((reason) => [`${ACTIONS.reason}_${reason}`, [reason]])),
};

/** @returns undefined if the button is not one of ours */
export function readOffer(actionId: string, value = ''): PressedOffer | undefined {
  const { word = '', language, answer = '' } = VALUE.exec(value)?.groups ?? {};
  if (!(Object.hasOwn(WORDS_OF, actionId) && WORDS_OF[actionId]?.includes(word))) return undefined;
  return {
    word: word as PressedOffer['word'],
    answer: asDeliveryId(answer),
    language: language === 'zh' ? 'zh' : 'en',
  };
}

function valueOf(word: PressedOffer['word'], { answer, language }: Pick<ReplyActions, 'answer' | 'language'>): string {
  return `${word} ${language} ${answer}`;
}

function button(actionId: string, label: string, value: string): object {
  return { type: 'button', action_id: actionId, text: plain(label), value };
}

function plain(text: string): object {
  return { type: 'plain_text', text, emoji: false };
}
