import type { Chat, InboundMessage, InboundStop } from '../../domain/message.ts';
import type { SlashCommand } from '../../domain/slash-words.ts';
import type { Delivery, HttpAnswer } from '../platform.ts';

/** The workspace in which something was said, and the app to which. */
export interface Place {
  tenant: string;
  app: string;
}

/** "Taken": Slack shows nothing of it to anybody. */
export const EMPTY_ANSWER: HttpAnswer = { status: 200, body: '' };

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

/** A message's `ts` is its id within its channel only. The same for every delivery of it: so is a retry of Slack's known (queue/accept.ts). */
export function messageIdOf(channel: string, ts: string): string {
  return `${channel}:${ts}`;
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

export function spoken({ tenant, app }: Place, slash: SlashCommand | undefined, said: Spoken): InboundMessage {
  return { version: 1, platform: 'slack', tenant, app, ...said, slash };
}

/** Where a stop was meant. */
interface StopPlace {
  tenant: string;
  channel: string;
  user: string;
  threadTs: string | undefined;
  isPrivate: boolean;
}

export function stopIn(
  { tenant, channel, user, threadTs, isPrivate }: StopPlace,
  { stopId, ...which }: Pick<InboundStop, 'stopId' | 'shownAt'>,
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
