import type { MessageState, MessageView, SendRequest } from '../api.ts';

/** A message on the page: the server's view, or an own message that the server has not confirmed yet. */
export interface LoggedMessage extends MessageView {
  /**
   * Set for own messages written in this tab (and sent as `clientId`). It remains after the server's id arrives, so that the
   * row keeps its place.
   */
  localId?: string;
  /** The send request; kept for "send again" until the server has the message. */
  request?: SendRequest;
  /** Why sending failed (`ApiError.code`); the server's own reason is in `error`. */
  failureCode?: string;
}

/** Why sending a message failed, as a row shows it. */
export type SendFailure = Pick<LoggedMessage, 'error' | 'failureCode'>;

/** Messages of one conversation, oldest first. The functions below do not change their arguments. */
export type MessageLog = readonly LoggedMessage[];

const PROGRESS: Readonly<Record<MessageState, number>> = { sending: 0, sent: 1, failed: 1, streaming: 0, final: 1 };

/** Identity of a row on the page. */
export function rowKeyOf(message: LoggedMessage): string {
  return message.localId ?? message.id;
}

/** Whether a message exists only in this tab: it is being sent, or never arrived. */
export function isLocalOnly(message: LoggedMessage): boolean {
  return message.localId !== undefined && message.id === message.localId;
}

/** Applies a server event for a known or new message. Events are always newer than the displayed state. */
export function withEvent(log: MessageLog, view: MessageView): MessageLog {
  const at = indexOfRow(log, view);
  return at >= 0 ? replaceAt(log, at, view) : insertByTime(log, view);
}

/**
 * Applies the server's response to the POST of the row `localId`; an event that arrived earlier is newer and takes
 * precedence.
 */
export function withAcceptance(log: MessageLog, localId: string, view: MessageView): MessageLog {
  const known = log.findIndex((message) => message.id === view.id);
  if (known >= 0) {
    const settled = replaceAt(log, known, newerOf(log[known] ?? view, view));
    return settled.filter((message) => !(message.localId === localId && isLocalOnly(message)));
  }
  const waiting = log.findIndex((message) => message.localId === localId && isLocalOnly(message));
  return waiting >= 0 ? replaceAt(log, waiting, view) : insertByTime(log, view);
}

/**
 * Marks an own message as failed, unless the server has reported it meanwhile: then it arrived, even if the POST got no
 * response.
 */
export function withFailure(log: MessageLog, localId: string, failure: SendFailure): MessageLog {
  return log.map((message) =>
    message.localId === localId && isLocalOnly(message) ? { ...message, ...failure, state: 'failed' } : message,
  );
}

/** Changes the row `rowKey`, wherever it is. */
export function withChange(log: MessageLog, rowKey: string, change: Partial<LoggedMessage>): MessageLog {
  return log.map((message) => (rowKeyOf(message) === rowKey ? { ...message, ...change } : message));
}

/** Inserts a message by its time, after all messages of the same age or older. */
export function insertByTime(log: MessageLog, message: LoggedMessage): MessageLog {
  const at = log.findLastIndex((other) => other.atMs <= message.atMs) + 1;
  return [...log.slice(0, at), message, ...log.slice(at)];
}

/**
 * Merges a fetched list with events that arrived during the fetch. A message never reverts (final to streaming, sent to
 * sending, a longer text to a shorter one), and rows that exist only in this tab stay.
 */
export function mergeFetched(log: MessageLog, fetched: readonly MessageView[]): MessageLog {
  return fetched.reduce<MessageLog>((merged, view) => {
    const at = indexOfRow(merged, view);
    return at >= 0 ? replaceAt(merged, at, newerOf(merged[at] ?? view, view)) : insertByTime(merged, view);
  }, log);
}

/**
 * The row of a message that the server reports. It may be an own message whose POST is still pending, or whose POST was
 * given up: the server may process it much later, and then it has not failed.
 */
function indexOfRow(log: MessageLog, { id, clientId }: MessageView): number {
  const known = log.findIndex((message) => message.id === id);
  if (known >= 0 || clientId === undefined) return known;
  return log.findIndex((message) => isLocalOnly(message) && message.localId === clientId);
}

function newerOf(shown: MessageView, incoming: MessageView): MessageView {
  if (PROGRESS[shown.state] !== PROGRESS[incoming.state]) {
    return PROGRESS[shown.state] > PROGRESS[incoming.state] ? shown : incoming;
  }
  return shown.state === 'streaming' && shown.text.length > incoming.text.length ? shown : incoming;
}

function replaceAt(log: MessageLog, at: number, view: MessageView): MessageLog {
  const localId = log[at]?.localId;
  const next: LoggedMessage = localId === undefined ? { ...view } : { ...view, localId };
  return log.map((message, index) => (index === at ? next : message));
}
