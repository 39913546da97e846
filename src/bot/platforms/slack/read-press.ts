import type { InboundFeedback } from '../../domain/feedback.ts';
import type { Delivery, Press } from '../platform.ts';
import { readOffer, type PressedOffer } from './offers.ts';
import { chatOf, EMPTY_ANSWER, ignored, messageIdOf, spoken, stopIn, type Place } from './place.ts';
import { formatHandle, formatTarget } from './reply-target.ts';
import { wirePress, type WirePress } from './wire-event.ts';

interface PressOptions extends Place {
  /** Whether an address is Slack's own, so that something may be posted to it. */
  isOwnAddress(address: string): boolean;
}

/** Somebody pressed a button. It says which answer it stands at; who pressed it and where, Slack says (SECURITY.md own-buttons). */
export function readPress(parsed: unknown, options: PressOptions): Delivery {
  const read = wirePress.safeParse(parsed);
  const action = read.success ? read.data.actions[0] : undefined;
  const offer = action && readOffer(action.action_id, action.value);
  if (!read.success || !offer) return ignored('unwanted interaction');
  const pressed = {
    ...placeOf(read.data, offer),
    offer,
    pressedAt: action.action_ts ?? read.data.container.message_ts,
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
  /** Of the message at which the button stands. */
  ts: string;
  threadTs: string | undefined;
  isPrivate: boolean;
  /** The same for every delivery of one press. */
  pressedAt: string;
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
  const stop = stopIn({ tenant, channel, user, threadTs, isPrivate }, { stopId: `stop:${pressedAt}`, shownAt });
  return { ...stop, pressed: press };
}

/** The word itself, said in the answer's place. Of one answer it is said once, however often it is pressed. */
function retryOf({ channel, user, ts, threadTs, isPrivate, press, offer }: Pressed, place: Place): Delivery {
  const { answer } = offer;
  const message = spoken(
    place,
    { word: 'retry', argument: answer },
    {
      messageId: messageIdOf(channel, `retry:${ts}`),
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
