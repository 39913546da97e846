import type { MessageState, MessageView, SendRequest } from '../api.ts';

/** A message in the page: the server's view, or one of our own that the server has not answered for yet. */
export interface LoggedMessage extends MessageView {
  /** Given to own messages written in this tab (and sent along as `clientId`); it stays when the server's id comes, so that the row keeps its place. */
  localId?: string;
  /** What was asked to be sent; kept only while the server does not hold the message, for "send again". */
  request?: SendRequest;
  /** Why handing it over failed (`ApiError.code`); the server's own reason is in `error`. */
  failureCode?: string;
}

/** Why handing a message over failed, as a row tells it. */
export type SendFailure = Pick<LoggedMessage, 'error' | 'failureCode'>;

/** Messages of one conversation, oldest first. None of the functions below changes its argument. */
export type MessageLog = readonly LoggedMessage[];

const PROGRESS: Readonly<Record<MessageState, number>> = { sending: 0, sent: 1, failed: 1, streaming: 0, final: 1 };

/** The identity of a row on the page. */
export function rowKeyOf(message: LoggedMessage): string {
  return message.localId ?? message.id;
}

/** Whether a message exists in this tab only: on its way, or never arrived. */
export function isLocalOnly(message: LoggedMessage): boolean {
  return message.localId !== undefined && message.id === message.localId;
}

/** Takes in an event of the server, which is always newer than what is shown, for a message that is known or new. */
export function withEvent(log: MessageLog, view: MessageView): MessageLog {
  const at = indexOfRow(log, view);
  return at >= 0 ? replaceAt(log, at, view) : insertByTime(log, view);
}

/** Takes in the server's answer to the POST of the row `localId`; an event that overtook it is newer and stays. */
export function withAcceptance(log: MessageLog, localId: string, view: MessageView): MessageLog {
  const known = log.findIndex((message) => message.id === view.id);
  if (known >= 0) {
    const settled = replaceAt(log, known, newerOf(log[known] ?? view, view));
    return settled.filter((message) => !(message.localId === localId && isLocalOnly(message)));
  }
  const waiting = log.findIndex((message) => message.localId === localId && isLocalOnly(message));
  return waiting >= 0 ? replaceAt(log, waiting, view) : insertByTime(log, view);
}

/** Marks an own message as failed; one that the server told of meanwhile arrived, whatever became of the answer to its POST. */
export function withFailure(log: MessageLog, localId: string, failure: SendFailure): MessageLog {
  return log.map((message) =>
    message.localId === localId && isLocalOnly(message) ? { ...message, ...failure, state: 'failed' } : message,
  );
}

/** Changes the row `rowKey`, wherever it is. */
export function withChange(log: MessageLog, rowKey: string, change: Partial<LoggedMessage>): MessageLog {
  return log.map((message) => (rowKeyOf(message) === rowKey ? { ...message, ...change } : message));
}

/** Puts a message at its time: after everything that is as old or older. */
export function insertByTime(log: MessageLog, message: LoggedMessage): MessageLog {
  const at = log.findLastIndex((other) => other.atMs <= message.atMs) + 1;
  return [...log.slice(0, at), message, ...log.slice(at)];
}

/**
 * Joins a fetched list with what events told while it was on its way. A message never goes back (final to streaming,
 * sent to sending, a longer text to a shorter one), and rows that live in this tab only stay.
 */
export function mergeFetched(log: MessageLog, fetched: readonly MessageView[]): MessageLog {
  return fetched.reduce<MessageLog>((merged, view) => {
    const at = indexOfRow(merged, view);
    return at >= 0 ? replaceAt(merged, at, newerOf(merged[at] ?? view, view)) : insertByTime(merged, view);
  }, log);
}

/**
 * The row of a message that the server tells of. It may be one of our own that still waits for the answer to its POST, or whose
 * POST was given up: the server may carry it out much later, and then it did not fail after all.
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
