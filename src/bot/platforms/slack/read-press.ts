import type { InboundFeedback } from '../../domain/feedback.ts';
import type { Delivery, Press } from '../platform.ts';
import { readOffer, type PressedOffer } from './offers.ts';
import { chatOf, EMPTY_ANSWER, ignored, messageIdOf, orderOf, createMessage, stopIn, type Place } from './place.ts';
import { formatHandle, formatTarget } from './reply-target.ts';
import { wirePress, type WirePress } from './wire-event.ts';

interface PressOptions extends Place {
  /** Whether an address belongs to Slack, so that a message may be posted to it. */
  isOwnAddress(address: string): boolean;
}

/**
 * Reads a press of a button. The button's value names the answer; Slack names the person and the chat
 * (SECURITY.md own-buttons).
 */
export function readPress(parsed: unknown, options: PressOptions): Delivery {
  const read = wirePress.safeParse(parsed);
  const action = read.success ? read.data.actions[0] : undefined;
  const offer = action && readOffer(action.action_id, action.value);
  if (!read.success || !offer) return ignored('unwanted interaction');
  const pressed = {
    ...placeOf(read.data, offer),
    offer,
    pressedAt: action.action_ts,
  };
  const { word } = offer;
  if (word === 'stop') return stopOf(pressed, options);
  if (word === 'retry') return retryOf(pressed, options);
  if (word === 'good' || word === 'bad') return feedbackOf(pressed, options, { verdict: word, reasons: [] });
  return feedbackOf(pressed, options, { verdict: 'bad', reasons: [word] }, read.data.response_url);
}

interface Pressed {
  offer: PressedOffer;
  channel: string;
  user: string;
  /** `ts` of the message with the button. */
  ts: string;
  threadTs: string | undefined;
  isPrivate: boolean;
  /** `ts` of the press, the same for every delivery of it. */
  pressedAt: string | undefined;
  press: Press;
}

function placeOf({ channel, user, container, message, team }: WirePress, { language }: PressedOffer) {
  const isPrivate = channel.id.startsWith('D');
  const threadTs = container.thread_ts ?? message?.thread_ts;
  const ts = container.message_ts;
  const teamId = user.team_id ?? team?.id ?? '';
  const target = formatTarget({ channel: channel.id, ts, threadTs, userId: user.id, teamId, isPrivate });
  return { channel: channel.id, user: user.id, ts, threadTs, isPrivate, press: { target, language } };
}

function stopOf({ channel, user, ts, threadTs, isPrivate, pressedAt, press }: Pressed, { tenant }: Place): Delivery {
  const shownAt = [formatHandle({ channel, ts })];
  const chatOrder = pressedAt === undefined ? undefined : orderOf(pressedAt).chatOrder;
  const which = { stopId: `stop:${pressedAt ?? ts}`, chatOrder, shownAt };
  const stop = stopIn({ tenant, channel, user, threadTs, isPrivate }, which);
  return { ...stop, pressed: press };
}

/** The command word, as a message at the answer's place. Several presses for one answer count once. */
function retryOf({ channel, user, ts, threadTs, isPrivate, pressedAt, press, offer }: Pressed, place: Place): Delivery {
  const { answer } = offer;
  const message = createMessage(
    place,
    { word: 'retry', argument: answer },
    {
      messageId: messageIdOf(channel, `retry:${ts}`),
      ...(pressedAt === undefined ? {} : orderOf(pressedAt)),
      chat: chatOf({ isPrivate, channel, user }, threadTs),
      sender: { userId: user },
      parts: [{ type: 'text', text: '/retry' }],
      replyTarget: press.target,
      threadBegunBy: threadTs === undefined ? undefined : messageIdOf(channel, threadTs),
    },
  );
  return { kind: 'message', message, pressed: { ...press, answer }, answer: () => EMPTY_ANSWER };
}

function feedbackOf(
  { channel, user, threadTs, isPrivate, press, offer }: Pressed,
  { tenant, isOwnAddress }: PressOptions,
  thought: Pick<InboundFeedback, 'verdict' | 'reasons'>,
  responseUrl?: string,
): Delivery {
  const askedAt = responseUrl !== undefined && isOwnAddress(responseUrl) ? responseUrl : undefined;
  const chat = chatOf({ isPrivate, channel, user }, threadTs);
  const { answer } = offer;
  const feedback = {
    tenant,
    chat,
    sender: { userId: user },
    answer,
    ...thought,
    followUp: { ...press, askedAt },
  };
  return { kind: 'feedback', feedback, answer: EMPTY_ANSWER };
}
