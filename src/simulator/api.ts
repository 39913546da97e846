import { MIB_BYTES } from '../shared/clock.ts';
import type { WorkerView } from './local-controls.ts';

/** What the messenger's page and its server say to each other. All times are milliseconds since the epoch. */

/** So many messages are told at once; where there are so many, there may be earlier ones. */
export const SHOWN_MESSAGES = 200;

/** The largest image that a person may send. */
export const MAX_IMAGE_BYTES = 10 * MIB_BYTES;

/** The largest file of another kind: more than the bot reads, so that its answer to that can be seen. */
export const MAX_FILE_BYTES = 25 * MIB_BYTES;

/** A file of another kind than an image, as its message shows it. */
export interface FileChip {
  name: string;
  sizeBytes: number;
}

export interface PersonView {
  /** The person's messaging user id. */
  id: string;
  name: string;
  department: string;
  /** The directory says that the account is not active: whoever signs in with it is refused. */
  isInactive?: boolean;
}

/** Questions that the bot offers, where the platform has such: one tap sends `message` as the person's own. */
export interface PromptsView {
  title?: string;
  items: { title: string; message: string }[];
}

export interface ConversationView {
  id: string;
  kind: 'private' | 'group';
  name: string;
  /** In a group everybody in it; in a private chat the person alone (the bot is always there). */
  members: PersonView[];
  /** The beginning of the newest message on one line, as markdown. */
  lastLine: string;
  lastAtMs: number | null;
  unread: number;
  /** Until the person writes the next message there. */
  prompts?: PromptsView;
}

/** `sending` … `failed` are states of a person's own message on its way to the bot; `streaming` and `final` those of an answer. */
export type MessageState = 'sending' | 'sent' | 'failed' | 'streaming' | 'final';

/** Something of the bot's to press below a message. */
export interface ButtonView {
  /** Names it within its message. */
  id: string;
  label: string;
  /** `good` and `bad` are a pair of thumbs, `remove` is a bin; the others show their label. */
  kind: 'button' | 'good' | 'bad' | 'remove';
  style?: 'primary' | 'danger';
  /** The thumb that this person pressed. */
  isPressed?: boolean;
  /** It is seen, and cannot be pressed any more. */
  isOff?: boolean;
  /** What the press opens. */
  url?: string;
}

/** What a card says. */
export interface CardView {
  title?: string;
  desc?: string;
  /** A figure that stands out. */
  emphasis?: string;
  text?: string;
  facts?: { name: string; value: string }[];
  /** Where a press on the card itself leads. */
  url?: string;
  /** It is the whole message, whose `text` says the same in plain words. */
  isAlone?: boolean;
}

/** Why an answer is bad, as WeCom asks. */
export type RatingReason = 'irrelevant' | 'incomplete' | 'wrong' | 'analysis';

export interface MessageView {
  id: string;
  conversationId: string;
  /** A person's user id, `bot`, or `system` for a quiet centred line (welcome, account notices). */
  sender: string;
  senderName: string;
  state: MessageState;
  /** Markdown. */
  text: string;
  /** The model's thought, shown folded. */
  thinking?: string;
  /** What the bot says about its answer, apart from the text: shown small below it, never folded. Plain words. */
  note?: string;
  images: { url: string; alt: string }[];
  files?: FileChip[];
  quote?: { senderName: string; text: string };
  /** Of a reply in a thread, where the platform has those: the message under which it hangs. */
  thread?: { rootId: string; senderName: string; text: string };
  atMs: number;
  /** The name that the sender's page gave to the sending, so that it knows its own message again. */
  clientId?: string;
  /** Why a sending failed, for people. */
  error?: string;
  /** True when an answer can be rated (feedback was enabled by the bot). */
  canRate?: boolean;
  rating?: 'good' | 'bad';
  /** Drawn in place of the text, or below it. */
  card?: CardView;
  /** The bot's buttons, row by row. */
  buttons?: ButtonView[][];
  /** A message of the bot's that nobody else sees. */
  isOnlyForYou?: boolean;
  /** A person's own message that they may edit and delete. */
  canAmend?: boolean;
  isEdited?: boolean;
  /** Its words are gone; it keeps its place. */
  isDeleted?: boolean;
}

export type LocalLogins = Readonly<Record<string, { username: string; password: string }>>;

/** GET /api/bootstrap */
export interface Bootstrap {
  botName: string;
  people: PersonView[];
  /** Slash words for the composer: what is typed, and one line of help in both languages. */
  slashWords: { word: string; help: { en: string; zh: string } }[];
  /** What else may be typed for a slash word. */
  otherSpellings?: Readonly<Record<string, string>>;
  protocol: 'wecom' | 'slack';
  /** How each person logs in at the local sign-in service, by person id, where the platform has no sign-in of its own. */
  localLogins?: LocalLogins;
  /** Host (with port) of that service. */
  signInHost?: string;
  /** Origins whose links open in the in-app browser (the bot's, the service's). Absent: those of every loopback address. */
  inAppOrigins?: string[];
  /** Whether the page may end the bot's worker: in local mode. */
  isLocal?: boolean;
}

/** POST /api/conversations/:id/messages; answers with the new MessageView (202), its later states come as events. */
export interface SendRequest {
  person: string;
  text: string;
  /** Ids from POST /api/uploads (raw image bytes with their content type; answers `{ id, url }`). */
  images: string[];
  /** As `images`, uploaded with `?name=`. */
  files?: string[];
  quoteMessageId?: string;
  /** Names this sending among the person's: however often it is asked for, it is one message. */
  clientId?: string;
}

/** POST /api/frames: opens a link in the person's in-app browser. DELETE /api/frames/:id closes it. */
export interface FrameRequest {
  person: string;
  url: string;
}
export interface FrameView {
  id: string;
  /** The frame's own loopback address, to be used as the iframe's src. */
  frameUrl: string;
  /** The host (with port) that is shown in the title bar. */
  host: string;
  /** The page says that all is done: the panel closes by itself after a moment, unless the person goes on. */
  isDone?: true;
  /** The page led back to the chat: there is no such frame any more. */
  isClosed?: true;
}

/** A line that stands where the answer will. */
export interface StatusView {
  conversationId: string;
  text: string;
}

/**
 * GET /api/people/:person/events: server-sent events, each `event: NAME` with one JSON `data`, most with an `id`.
 * `message` and `conversation` carry the whole view (new or changed: replace by id). `frame` tells where an open frame is now.
 * `worker` tells, in local mode, of the process that took the place of a killed one. `bot` tells whether the bot can be reached. `status` is what the bot says it is doing; an empty text takes it away.
 * A page that comes back names the last id that it saw (`?after=ID` or `Last-Event-ID`) and gets what was told since, of each
 * thing its newest state. Beside these there are the two of `StreamEvent`.
 */
export type MessengerEvent =
  | { name: 'message'; data: MessageView }
  | { name: 'conversation'; data: ConversationView }
  /** A message that nobody sees any more. */
  | { name: 'gone'; data: { id: string; conversationId: string } }
  | { name: 'frame'; data: FrameView }
  | { name: 'status'; data: StatusView }
  | { name: 'bot'; data: { reachable: boolean } }
  | { name: 'worker'; data: WorkerView }
  /** Whoever started it stops it: first answers under way are finished, then it is over. */
  | { name: 'stop'; data: { isOver: boolean } };

/**
 * What the stream says of itself. `hello` comes first: `resumed` when nothing was missed since the id that was named.
 * `beat` comes every few seconds, so that silence means that the connection is gone.
 */
export type StreamEvent = { name: 'hello'; data: { resumed: boolean } } | { name: 'beat'; data: Record<string, never> };

/*
 * Further addresses: GET /api/people/:person/conversations → ConversationView[];
 * GET /api/conversations/:id/messages?person=ID → MessageView[] (oldest first, at most the last 200, as SHOWN_MESSAGES says);
 * with &before=ID those before that message;
 * POST /api/conversations/:id/read { person }; POST /api/messages/:id/resend { person };
 * POST /api/messages/:id/stop { person } stops a growing answer, or the one to a person's own message, where the app itself can (Slack);
 * POST /api/messages/:id/press { person, button } presses a button, named by its id, by what the bot calls it, or by its label
 * → MessageView, or 502 `not_taken` where the bot did not take it;
 * POST /api/messages/:id/rate { person, rating: 'good' | 'bad' | 'withdrawn', reasons?: RatingReason[], words? } → MessageView;
 * POST /api/messages/:id/edit { person, text } → MessageView, and /remove { person }, of an own message, where `canAmend` says so.
 * In local mode only: POST /api/local/worker/kill → WorkerView (429 when it comes too soon after another);
 * GET /api/local/model → ModelView; POST /api/local/model ModelRequest → ModelView, or 422 { fault: ModelFault }; DELETE /api/local/model.
 * Errors are { error: { code, message } }.
 */
