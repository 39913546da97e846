import { useCallback, useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import type { MessageView, SendRequest } from '../api.ts';
import {
  actOn,
  closeFrame,
  fetchConversations,
  fetchMessages,
  markRead,
  openFrame,
  sendMessage,
  ApiError,
  type Rating,
  type RatingDetails,
} from './api-client.ts';
import { followEvents } from './live-events.ts';
import { isLocalOnly, rowKeyOf, type LoggedMessage, type SendFailure } from './message-log.ts';
import { reducePage, START_STATE, type PageChange, type PageState } from './page-state.ts';
import type { PageText } from './page-texts.ts';

/** Actions of a person on the page. */
export interface SessionActions {
  load(conversationId: string): void;
  /** Loads the messages before a given one. Resolves whether or not that succeeded. */
  loadEarlier(conversationId: string, beforeId: string): Promise<void>;
  /**
   * Shows the message immediately and sends it to the server, after earlier ones. Resolves once the server has responded.
   */
  send(
    conversationId: string,
    message: Omit<SendRequest, 'person' | 'clientId'>,
    shown: ShownParts,
    behind?: Promise<void>,
  ): Promise<void>;
  sendAgain(message: LoggedMessage): void;
  rate(message: MessageView, rating: Rating, why?: RatingDetails): void;
  /** Presses a button of the bot. @returns whether the bot accepted it */
  press(message: MessageView, buttonId: string): Promise<boolean>;
  /** Edits an own message. @returns whether that succeeded */
  edit(message: MessageView, text: string): Promise<boolean>;
  remove(message: MessageView): void;
  /** Stops a growing answer with the app's own function. */
  stop(message: MessageView): void;
  read(conversationId: string): void;
  openInApp(href: string): void;
  closeInApp(): void;
}

/** View of an own message until the server's view arrives. */
export type ShownParts = Pick<MessageView, 'images' | 'files' | 'quote' | 'senderName'>;

/** Synchronizes one person's page with the server; `onFault` receives errors that do not belong to a message. */
export function useSession(person: string, onFault: (text: PageText) => void): [PageState, SessionActions] {
  const [state, change] = useReducer(reducePage, START_STATE);
  const opened = useRef(new Set<string>());
  const frameId = useRef<string | undefined>(undefined);
  frameId.current = state.frame?.id;

  const load = useCallback(
    (conversationId: string) => {
      opened.current.add(conversationId);
      void loadMessages(person, conversationId, change);
    },
    [person],
  );

  useEffect(() => {
    return followEvents(person, {
      onEvent: (event) => change({ type: 'event', event }),
      onLost: () => change({ type: 'connection', up: false }),
      onOpen(resumed) {
        change({ type: 'connection', up: true, resumed });
        // Includes what could not be fetched while the connection was lost.
        fetchConversations(person).then(
          (conversations) => change({ type: 'conversations-fetched', conversations }),
          () => undefined, // The stream breaks too when the server is unreachable, and reconnects.
        );
        opened.current.forEach((conversationId) => void loadMessages(person, conversationId, change));
      },
    });
  }, [person]);

  useEffect(() => () => void (frameId.current && closeFrame(frameId.current).catch(ignore)), [person]);

  const actions = useMemo<SessionActions>(
    () => ({
      load,
      loadEarlier: (conversationId, beforeId) =>
        fetchMessages(person, conversationId, beforeId).then(
          (messages) => change({ type: 'earlier-fetched', conversationId, messages }),
          () => onFault('loadFailed'),
        ),
      ...sendingActions(person, change),
      press: (message, buttonId) => isDone(actOn(person, message.id, { act: 'press', button: buttonId })),
      edit: (message, text) => isDone(actOn(person, message.id, { act: 'edit', text })),
      remove: (message) => void actOn(person, message.id, { act: 'remove' }).catch(() => onFault('notSaved')),
      rate(message, rating, why) {
        const shown = rating === 'withdrawn' ? undefined : rating;
        const edit = (value: MessageView['rating']) =>
          change({
            type: 'message-changed',
            conversationId: message.conversationId,
            rowKey: rowKeyOf(message),
            change: { rating: value },
          });
        edit(shown);
        actOn(person, message.id, { act: 'rate', rating, ...why }).catch(() => edit(message.rating));
      },
      stop: (message) => void actOn(person, message.id, { act: 'stop' }).catch(ignore),
      read(conversationId) {
        change({ type: 'conversation-read', conversationId });
        markRead(person, conversationId).catch(ignore);
      },
      openInApp(href) {
        if (frameId.current !== undefined) closeFrame(frameId.current).catch(ignore);
        openFrame({ person, url: href }).then(
          (frame) => change({ type: 'frame-opened', frame }),
          () => onFault('linkRefused'),
        );
      },
      closeInApp() {
        if (frameId.current !== undefined) closeFrame(frameId.current).catch(ignore);
        change({ type: 'frame-closed' });
      },
    }),
    [person, load, onFault],
  );
  return [state, actions];
}

type Change = (change: PageChange) => void;

function sendingActions(person: string, change: Change): Pick<SessionActions, 'send' | 'sendAgain'> {
  const post = (conversationId: string, localId: string, request: SendRequest) =>
    sendMessage(conversationId, request).then(
      (message) => change({ type: 'message-accepted', conversationId, localId, message }),
      (error: unknown) => change({ type: 'message-unsent', conversationId, localId, failure: failureOf(error) }),
    );
  return {
    send(conversationId, parts, shown, behind) {
      const localId = crypto.randomUUID();
      const request: SendRequest = { ...parts, person, clientId: localId };
      const own = { id: localId, localId, conversationId, sender: person, state: 'sending', atMs: Date.now() } as const;
      change({ type: 'message-written', message: { ...own, ...shown, text: parts.text, request } });
      return behind
        ? behind.then(() => post(conversationId, localId, request))
        : post(conversationId, localId, request);
    },
    sendAgain(message) {
      const rowKey = rowKeyOf(message);
      const edit = (edited: Partial<LoggedMessage>) =>
        change({ type: 'message-changed', conversationId: message.conversationId, rowKey, change: edited });
      edit({ state: 'sending', error: undefined, failureCode: undefined });
      if (isLocalOnly(message) && message.request !== undefined) {
        void post(message.conversationId, rowKey, message.request);
      } else {
        actOn(person, message.id, { act: 'resend' }).catch((error: unknown) =>
          edit({ state: 'failed', ...failureOf(error) }),
        );
      }
    },
  };
}

async function loadMessages(person: string, conversationId: string, change: Change): Promise<void> {
  try {
    const messages = await fetchMessages(person, conversationId);
    change({ type: 'messages-fetched', conversationId, messages });
  } catch {
    change({ type: 'messages-unloaded', conversationId });
  }
}

/** Why a message failed: the server's sentence, and the code for which the page has a better one. */
function failureOf(error: unknown): SendFailure {
  if (!(error instanceof ApiError)) return { failureCode: 'unreachable' };
  return { failureCode: error.code, error: error.shown };
}

/** For calls whose error is shown where they were started. */
function isDone(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** For calls whose failure changes nothing visible. */
function ignore(): void {
  return undefined;
}
