import { MIB_BYTES } from '../shared/clock.ts';
import type { WorkerView } from './local-controls.ts';

/** API between the messenger's page and its server. All times are milliseconds since the epoch. */

/** Maximum messages per response. If a response is full, there may be earlier messages. */
export const SHOWN_MESSAGES = 200;

/** Maximum size of an image that a person may send. */
export const MAX_IMAGE_BYTES = 10 * MIB_BYTES;

/**
 * Maximum size of any other file. Larger than the bot's own limit, so that the bot's reply to a file that is too large can
 * be seen.
 */
export const MAX_FILE_BYTES = 25 * MIB_BYTES;

/** A file other than an image, as shown in its message. */
export interface FileChip {
  name: string;
  sizeBytes: number;
}

export interface PersonView {
  /** The person's messaging user id. */
  id: string;
  name: string;
  department: string;
  /** The directory marks the account as inactive: signing in with it is refused. */
  isInactive?: boolean;
}

/** Suggested questions of the bot, on platforms that have them. A tap sends `message` as the person. */
export interface PromptsView {
  title?: string;
  items: { title: string; message: string }[];
}

export interface ConversationView {
  id: string;
  kind: 'private' | 'group';
  name: string;
  /** In a group all members; in a private chat only the person (the bot is always present). */
  members: PersonView[];
  /** Beginning of the newest message on one line, as markdown. */
  lastLine: string;
  lastAtMs: number | null;
  unread: number;
  /** Shown until the person writes the next message there. */
  prompts?: PromptsView;
}

/**
 * `sending` … `failed` are states of a person's own message on its way to the bot; `streaming` and `final` are those of an
 * answer.
 */
export type MessageState = 'sending' | 'sent' | 'failed' | 'streaming' | 'final';

/** A button of the bot below a message. */
export interface ButtonView {
  /** Unique within its message. */
  id: string;
  label: string;
  /** `good` and `bad` are a pair of thumbs, `remove` is a bin; the others show their label. */
  kind: 'button' | 'good' | 'bad' | 'remove';
  style?: 'primary' | 'danger';
  /** This person pressed this thumb. */
  isPressed?: boolean;
  /** Visible but disabled. */
  isOff?: boolean;
  /** Address that the button opens. */
  url?: string;
}

/** Content of a card. */
export interface CardView {
  title?: string;
  desc?: string;
  /** An emphasized figure. */
  emphasis?: string;
  text?: string;
  facts?: { name: string; value: string }[];
  /** Address that a press on the card opens. */
  url?: string;
  /** The card is the whole message, and `text` is its plain-text equivalent. */
  isAlone?: boolean;
}

/** Reasons for a bad rating, as in WeCom. */
export type RatingReason = 'irrelevant' | 'incomplete' | 'wrong' | 'analysis';

export interface MessageView {
  id: string;
  conversationId: string;
  /** A person's user id, `bot`, or `system` for a centered line (welcome, account notices). */
  sender: string;
  senderName: string;
  state: MessageState;
  /** Markdown. */
  text: string;
  /** The model's reasoning, shown collapsed. */
  thinking?: string;
  /** The bot's remark about its answer, shown in small print below the text and never collapsed. Plain text. */
  note?: string;
  images: { url: string; alt: string }[];
  files?: FileChip[];
  quote?: { senderName: string; text: string };
  /** For a reply in a thread, on platforms with threads: id of the thread's first message. */
  thread?: { rootId: string; senderName: string; text: string };
  atMs: number;
  /** Id from the sender's page, so that the page recognizes its own message. */
  clientId?: string;
  /** User-facing reason for a failed delivery. */
  error?: string;
  /** Whether an answer can be rated (the bot has enabled feedback). */
  canRate?: boolean;
  rating?: 'good' | 'bad';
  /** Shown instead of the text, or below it. */
  card?: CardView;
  /** The bot's buttons, row by row. */
  buttons?: ButtonView[][];
  /** A bot message that only this person sees. */
  isOnlyForYou?: boolean;
  /** The person's own message, which they may edit and delete. */
  canAmend?: boolean;
  isEdited?: boolean;
  /** The message was deleted; its place remains. */
  isDeleted?: boolean;
}

export type LocalLogins = Readonly<Record<string, { username: string; password: string }>>;

/** GET /api/bootstrap */
export interface Bootstrap {
  botName: string;
  people: PersonView[];
  /** Commands for the composer: the command, and one line of help in both languages. */
  slashWords: { word: string; help: { en: string; zh: string } }[];
  /** Alternative spellings of the command. */
  otherSpellings?: Readonly<Record<string, string>>;
  protocol: 'wecom' | 'slack';
  /** Credentials for the local sign-in service, by person id, if the platform has no sign-in of its own. */
  localLogins?: LocalLogins;
  /** Host (with port) of the sign-in service. */
  signInHost?: string;
  /** Origins whose links open in the in-app browser (the bot's, the service's). Defaults to all loopback addresses. */
  inAppOrigins?: string[];
  /** Whether the page may kill the bot's worker: in local mode. */
  isLocal?: boolean;
}

/** POST /api/conversations/:id/messages; returns the new MessageView (202). Later states arrive as events. */
export interface SendRequest {
  person: string;
  text: string;
  /** Ids from POST /api/uploads (raw image bytes with their content type; returns `{ id, url }`). */
  images: string[];
  /** Like `images`, uploaded with `?name=`. */
  files?: string[];
  quoteMessageId?: string;
  /** Unique id of this message from the client. Repeated requests with the same id create only one message. */
  clientId?: string;
}

/** POST /api/frames: opens a link in the person's in-app browser. DELETE /api/frames/:id closes it. */
export interface FrameRequest {
  person: string;
  url: string;
}
export interface FrameView {
  id: string;
  /** The frame's own loopback address, used as the iframe's src. */
  frameUrl: string;
  /** Host (with port) for the title bar. */
  host: string;
  /** The page reports completion: the panel closes automatically after a moment, unless the person navigates on. */
  isDone?: true;
  /** The page navigated back to the chat: the frame is closed. */
  isClosed?: true;
}

/** A status line in place of the coming answer. */
export interface StatusView {
  conversationId: string;
  text: string;
}

/**
 * GET /api/people/:person/events: server-sent events, each `event: NAME` with one JSON `data`, most with an `id`. `message`
 * and `conversation` contain the whole view (new or changed: replace by id). `frame` reports the current page of an open
 * frame. `worker` reports, in local mode, the process that replaced a killed one. `bot` reports whether the bot can be
 * reached. `status` is the bot's current activity; an empty text removes it. A page that reconnects sends the last id that
 * it received (`?after=ID` or `Last-Event-ID`) and gets the events since then, with only the newest state of each object.
 * `StreamEvent` defines two further events.
 */
export type MessengerEvent =
  | { name: 'message'; data: MessageView }
  | { name: 'conversation'; data: ConversationView }
  /** A message that was removed for everyone. */
  | { name: 'gone'; data: { id: string; conversationId: string } }
  | { name: 'frame'; data: FrameView }
  | { name: 'status'; data: StatusView }
  | { name: 'bot'; data: { reachable: boolean } }
  | { name: 'worker'; data: WorkerView }
  /** Parley is being stopped: it finishes the answers in progress, then exits. */
  | { name: 'stop'; data: { isOver: boolean } };

/**
 * Events about the stream itself. `hello` is sent first, with `resumed` if no event was missed since the given id. `beat` is
 * sent every few seconds, so that silence means a lost connection.
 */
export type StreamEvent = { name: 'hello'; data: { resumed: boolean } } | { name: 'beat'; data: Record<string, never> };

/*
 * Further endpoints:
 * - GET /api/people/:person/conversations → ConversationView[]
 * - GET /api/conversations/:id/messages?person=ID → MessageView[] (oldest first, at most the last 200, see SHOWN_MESSAGES);
 *   with &before=ID those before that message
 * - POST /api/conversations/:id/read { person }; POST /api/messages/:id/resend { person }
 * - POST /api/messages/:id/stop { person } stops a growing answer, or the one to a person's own message, if the app itself
 *   supports that (Slack)
 * - POST /api/messages/:id/press { person, button } presses a button, named by its id, by the bot's name for it, or by its
 *   label → MessageView, or 502 `not_taken` if the bot did not accept it
 * - POST /api/messages/:id/rate { person, rating: 'good' | 'bad' | 'withdrawn', reasons?: RatingReason[], words? } →
 *   MessageView
 * - POST /api/messages/:id/edit { person, text } → MessageView, and /remove { person }, for an own message with `canAmend`
 * - Only in local mode: POST /api/local/worker/kill → WorkerView (429 if too soon after another)
 * - GET /api/local/model → ModelView; POST /api/local/model ModelRequest → ModelView, or 422 { fault: ModelFault }; DELETE
 *   /api/local/model
 *
 * Errors are { error: { code, message } }.
 */
