import {
  SHOWN_MESSAGES,
  type ConversationView,
  type FrameView,
  type MessageView,
  type MessengerEvent,
} from '../api.ts';
import type { WorkerView } from '../local-controls.ts';
import {
  insertByTime,
  mergeFetched,
  withAcceptance,
  withChange,
  withEvent,
  withFailure,
  type LoggedMessage,
  type MessageLog,
  type SendFailure,
} from './message-log.ts';

/** State of a person's page: data from the server, and messages being sent. */
export interface PageState {
  /** Undefined until fetched. Newest first. */
  conversations: readonly ConversationView[] | undefined;
  /** Logs by conversation id; a conversation that was never opened has none. */
  logs: Readonly<Record<string, MessageLog>>;
  /** Messages without a log yet, by conversation id: they may have overtaken the first fetch. */
  early: Readonly<Record<string, MessageLog>>;
  /** Whether there may be earlier messages than a log contains, by conversation id. */
  hasEarlier: Readonly<Record<string, boolean>>;
  /** Conversations whose log could not be fetched. */
  unloaded: readonly string[];
  /** Whether the messenger's own server is reachable; true until a request fails. */
  connected: boolean;
  /** Whether the bot is reachable from the messenger; true until the server reports otherwise. */
  botReachable: boolean;
  /** The bot's current activity, by conversation id. */
  statuses: Readonly<Record<string, string>>;
  /** State of the bot's worker that was killed from a page. */
  worker: WorkerView | undefined;
  /** Whether Parley is being stopped, or has been. */
  stop: 'ending' | 'over' | undefined;
  /** The open in-app browser. */
  frame: FrameView | undefined;
}

/** All changes of the page's state. */
export type PageChange =
  | { type: 'event'; event: MessengerEvent }
  | { type: 'connection'; up: false }
  | { type: 'connection'; up: true; resumed: boolean }
  | { type: 'conversations-fetched'; conversations: readonly ConversationView[] }
  | { type: 'messages-fetched'; conversationId: string; messages: readonly MessageView[] }
  | { type: 'earlier-fetched'; conversationId: string; messages: readonly MessageView[] }
  | { type: 'messages-unloaded'; conversationId: string }
  | { type: 'message-written'; message: LoggedMessage }
  | { type: 'message-accepted'; conversationId: string; localId: string; message: MessageView }
  | { type: 'message-unsent'; conversationId: string; localId: string; failure: SendFailure }
  | { type: 'message-changed'; conversationId: string; rowKey: string; change: Partial<LoggedMessage> }
  | { type: 'conversation-read'; conversationId: string }
  | { type: 'frame-opened'; frame: FrameView }
  | { type: 'frame-closed' };

export const START_STATE: PageState = {
  conversations: undefined,
  logs: {},
  early: {},
  hasEarlier: {},
  unloaded: [],
  connected: true,
  botReachable: true,
  statuses: {},
  worker: undefined,
  stop: undefined,
  frame: undefined,
};

/** The state after a change; a pure function, so that changes can be replayed. */
export function reducePage(state: PageState, change: PageChange): PageState {
  switch (change.type) {
    case 'event':
      return takeEvent(state, change.event);
    case 'connection':
      // A server that announced its stop and disconnected has stopped.
      if (!change.up) return { ...state, connected: false, stop: state.stop && 'over' };
      // Status lines only arrive as events: one whose end was missed must not stay.
      // The same is true of messages that overtook a fetch, and were deleted meanwhile.
      return change.resumed
        ? { ...state, connected: true, stop: undefined }
        : { ...state, connected: true, stop: undefined, statuses: {}, early: {} };
    case 'conversations-fetched':
      return { ...state, conversations: newestFirst(change.conversations) };
    case 'messages-fetched': {
      const { [change.conversationId]: overtaking = [], ...early } = state.early;
      return {
        ...editLog(state, change.conversationId, (log) => mergeFetched(log, [...overtaking, ...change.messages])),
        early,
        // A later fetch has no information about messages before the first one.
        hasEarlier: { [change.conversationId]: isFull(change.messages), ...state.hasEarlier },
        unloaded: state.unloaded.filter((id) => id !== change.conversationId),
      };
    }
    case 'earlier-fetched':
      return {
        ...editLog(state, change.conversationId, (log) => mergeFetched(log, change.messages)),
        hasEarlier: { ...state.hasEarlier, [change.conversationId]: isFull(change.messages) },
      };
    case 'messages-unloaded':
      return { ...state, unloaded: [...new Set([...state.unloaded, change.conversationId])] };
    case 'message-written':
      return editLog(state, change.message.conversationId, (log) => insertByTime(log, change.message));
    case 'message-accepted':
      return editLog(state, change.conversationId, (log) => withAcceptance(log, change.localId, change.message));
    case 'message-unsent':
      return editLog(state, change.conversationId, (log) => withFailure(log, change.localId, change.failure));
    case 'message-changed':
      return editLog(state, change.conversationId, (log) => withChange(log, change.rowKey, change.change));
    case 'conversation-read':
      return editConversation(state, change.conversationId, { unread: 0 });
    case 'frame-opened':
      return { ...state, frame: change.frame };
    case 'frame-closed':
      return { ...state, frame: undefined };
  }
}

function isFull(messages: readonly MessageView[]): boolean {
  return messages.length >= SHOWN_MESSAGES;
}

function takeEvent(state: PageState, event: MessengerEvent): PageState {
  switch (event.name) {
    case 'message':
      return editKnown(state, event.data.conversationId, (log) => withEvent(log, event.data));
    case 'conversation': {
      const others = (state.conversations ?? []).filter(({ id }) => id !== event.data.id);
      return { ...state, conversations: newestFirst([event.data, ...others]) };
    }
    case 'gone':
      return editKnown(state, event.data.conversationId, (log) => log.filter(({ id }) => id !== event.data.id));
    case 'frame':
      if (state.frame?.id !== event.data.id) return state;
      return { ...state, frame: event.data.isClosed ? undefined : event.data };
    case 'status':
      return { ...state, statuses: { ...state.statuses, [event.data.conversationId]: event.data.text } };
    case 'worker':
      return { ...state, worker: event.data };
    case 'stop':
      return { ...state, stop: event.data.isOver ? 'over' : 'ending' };
    case 'bot':
      return { ...state, botReachable: event.data.reachable };
  }
}

function editLog(state: PageState, id: string, edit: (log: MessageLog) => MessageLog): PageState {
  return { ...state, logs: { ...state.logs, [id]: edit(state.logs[id] ?? []) } };
}

/** Changes the log; the early messages of a conversation that has no log yet. */
function editKnown(state: PageState, id: string, edit: (log: MessageLog) => MessageLog): PageState {
  if (state.logs[id] !== undefined) return editLog(state, id, edit);
  return { ...state, early: { ...state.early, [id]: edit(state.early[id] ?? []).slice(-SHOWN_MESSAGES) } };
}

function editConversation(state: PageState, id: string, edit: Partial<ConversationView>): PageState {
  if (state.conversations === undefined) return state;
  return { ...state, conversations: state.conversations.map((one) => (one.id === id ? { ...one, ...edit } : one)) };
}

/** Newest first; those without messages last, private chats before groups. */
function newestFirst(conversations: readonly ConversationView[]): ConversationView[] {
  const rank = (one: ConversationView) => (one.kind === 'private' ? 0 : 1);
  return [...conversations].sort(
    (left, right) =>
      (right.lastAtMs ?? 0) - (left.lastAtMs ?? 0) || rank(left) - rank(right) || left.name.localeCompare(right.name),
  );
}
