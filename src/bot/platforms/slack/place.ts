import { SECOND_MS } from '../../../shared/clock.ts';
import type { Chat, InboundMessage, InboundStop } from '../../domain/message.ts';
import type { SlashCommand } from '../../domain/slash-words.ts';
import type { Delivery, WebhookResponse } from '../platform.ts';

/** Workspace and app to which a message belongs. */
export interface Place {
  tenant: string;
  app: string;
}

/** Acknowledges a delivery; Slack shows nothing. */
export const EMPTY_ANSWER: WebhookResponse = { status: 200, body: '' };

export function ignored(reason: string): Delivery {
  return { kind: 'ignored', reason, answer: EMPTY_ANSWER };
}

export function chatOf(
  { isPrivate, channel, user }: { isPrivate: boolean; channel: string; user: string },
  threadId?: string,
) {
  const chat: Chat = isPrivate ? { kind: 'private', id: user } : { kind: 'group', id: channel };
  return threadId === undefined ? chat : { ...chat, threadId };
}

/**
 * A `ts` is unique only within its channel. The id is the same for every delivery of a message, so Slack's retries are
 * recognised (queue/accept.ts).
 */
export function messageIdOf(channel: string, ts: string): string {
  return `${channel}:${ts}`;
}

/** A `ts` has six decimals and is unique within its channel. */
const MICROSECONDS = 1_000_000;

/** The position in a chat that a `ts` gives: of a message, or of a press between messages. */
export function orderOf(ts: string): Required<Pick<InboundMessage, 'saidAtMs' | 'chatOrder'>> {
  return { saidAtMs: Math.floor(Number(ts) * SECOND_MS), chatOrder: Math.round(Number(ts) * MICROSECONDS) };
}

type Spoken = Pick<
  InboundMessage,
  | 'messageId'
  | 'saidAtMs'
  | 'chatOrder'
  | 'chat'
  | 'sender'
  | 'parts'
  | 'quote'
  | 'unnamed'
  | 'replyTarget'
  | 'opensThread'
  | 'threadBegunBy'
>;

export function createMessage({ tenant, app }: Place, slash: SlashCommand | undefined, said: Spoken): InboundMessage {
  return { version: 1, platform: 'slack', tenant, app, ...said, slash };
}

/** Where a stop was requested. */
interface StopPlace {
  tenant: string;
  channel: string;
  user: string;
  threadTs: string | undefined;
  isPrivate: boolean;
}

export function stopIn(
  { tenant, channel, user, threadTs, isPrivate }: StopPlace,
  { stopId, ...which }: Pick<InboundStop, 'stopId' | 'chatOrder' | 'shownAt'>,
): Extract<Delivery, { kind: 'stop' }> {
  const stop: InboundStop = {
    stopId: messageIdOf(channel, stopId),
    tenant,
    chat: chatOf({ isPrivate, channel, user }, threadTs),
    sender: { userId: user },
    threadBegunBy: threadTs === undefined ? undefined : messageIdOf(channel, threadTs),
    ...which,
  };
  return { kind: 'stop', stop, answer: EMPTY_ANSWER };
}
