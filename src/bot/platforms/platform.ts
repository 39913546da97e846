import type { IncomingHttpHeaders } from 'node:http';
import type { PlatformAccess } from './platform-access.ts';
import type { Chat, InboundAmendment, InboundMessage, InboundStop, MessagePart, Sender } from '../domain/message.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { PulledReply, ReplySnapshot, ReplyView } from '../domain/reply.ts';
import type { FeedbackFollowUp, FeedbackReason, InboundFeedback } from '../domain/feedback.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { SuggestedPrompt, SuggestedPrompts } from './prompts-file.ts';
import type { Refusal } from './write-meaning.ts';

/** An HTTP response to the platform. */
export interface WebhookResponse {
  status: number;
  contentType?: string;
  body: string;
}

/** A delivery's raw bytes. Only these are hashed, never a re-serialised body (SECURITY.md raw-bytes-only). */
export interface RawDelivery {
  method: 'GET' | 'POST';
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The parts of a delivery that precede its body. */
export type DeliveryHead = Omit<RawDelivery, 'body'>;

/**
 * Kinds of deliveries. `refused`: failed verification, or could not be parsed before it; all others are verified. `offSec`:
 * the clock difference, if that is the reason. The `answer…` functions build the platform's HTTP answer.
 */
export type Delivery =
  | { kind: 'refused'; status: 400 | 401; reason: string; offSec?: number }
  | { kind: 'handshake'; answer: WebhookResponse }
  | {
      kind: 'message';
      message: InboundMessage;
      /**
       * The message mentions no one. It is meant for the bot only if its thread contains one of our answers, and is dropped
       * unread otherwise.
       */
      isUnaddressed?: true;
      /** Sent by pressing a button of an answer. */
      pressed?: Press & { answer: DeliveryId };
      answer(reply: PulledReply | undefined): WebhookResponse;
    }
  | { kind: 'poll'; replyId: DeliveryId; chat: Chat; sender: Sender; answer(reply: PulledReply): WebhookResponse }
  | { kind: 'entered-chat'; sender: Sender; botName: string; answer(welcome: Welcome): WebhookResponse }
  /** A person opened a chat without messages; `target` is for `suggest`. */
  | { kind: 'opened-chat'; tenant: string; sender: Sender; target: string; answer: WebhookResponse }
  | { kind: 'stop'; stop: InboundStop; pressed?: Press; answer: WebhookResponse }
  | { kind: 'amendment'; amendment: InboundAmendment; answer: WebhookResponse }
  | { kind: 'feedback'; feedback: InboundFeedback; answer: WebhookResponse }
  | { kind: 'ignored'; reason: string; answer: WebhookResponse };

/** The welcome for a person who enters the chat. */
export interface Welcome {
  botName: string;
  text: string;
  prompts: readonly SuggestedPrompt[];
  /** Heading above questions that are shown as text. */
  heading: string;
}

/** Where a person pressed a button, for a private notice if the press had no effect; in the button's language. */
export interface Press {
  target: string;
  language: Language;
}

/**
 * Outcome of a post. `uncertain`: it may or may not have arrived. `busy`: it did not arrive and may be retried. `declined`:
 * it did not arrive because of a possibly temporary refusal (`Refusal`); a refusal that lasts longer than
 * `refusalsPassWithinMs` is permanent. `unauthorised`: nothing was posted, because the platform refuses all calls until the
 * operator repairs the token, its scopes or the trusted address; the text is stored and retried.
 */
export type PostResult = 'sent' | 'refused' | 'declined' | 'uncertain' | 'busy' | 'unauthorised';

/** Identifies one of several messages that form one text. */
export interface PartOfText {
  /** Name of the text, the same for each of its messages and each attempt. */
  name: string;
  isLast: boolean;
}

/** Result of fetching a media reference. */
export interface FetchedMedia {
  bytes: Buffer;
  /** File name received with the bytes; a name in the message takes precedence. */
  name?: string;
}

/** Capabilities of a platform's replies, as data. */
export interface ReplyTraits {
  /** How a live reply grows: the platform polls us, or we edit the whole text, or we append to it. */
  delivery: 'pull' | 'edit' | 'append';
  /** How long a live reply can grow, counted from the message. Milliseconds. */
  liveLifetimeMs: number;
  /** Lifetime of a message's `laterReplyHandle`, counted from the message. Milliseconds; 0 if there is none. */
  laterReplyLifetimeMs: number;
  /** How many messages the handle accepts. With `many` each message has a number, and repeating a number has no effect. */
  laterReplyUses: 'one' | 'many';
  /**
   * Time before the end of `liveLifetimeMs` at which the reply ends and the answer is delivered as a follow-up.
   * Milliseconds.
   */
  handoverMarginMs: number;
  /** Maximum size of one message, in UTF-8 bytes after rendering. */
  maxBytes: number;
  /** Minimum time between two edits (or snapshots) of one reply. Milliseconds. */
  minEditGapMs: number;
  /** Where the model's reasoning is shown: in a block of its own, or only in the status line. */
  thinking: 'block' | 'status';
  /** How a post of unknown fate is resolved after a crash. `once`: the platform itself refuses the second use. */
  reconcile: 'key' | 'lookup' | 'content' | 'once' | 'none';
  /** Pause between two lookups of a post of unknown fate. Milliseconds; 0 if the platform is not pushed to. */
  lookUpAfterMs: number;
  /**
   * How long the platform may still carry out a post after it was sent, although the caller gave up. A post that is not
   * visible by then never will be. Milliseconds; 0 if the platform is not pushed to.
   */
  postSettlesWithinMs: number;
  /** How long a possibly temporary refusal is retried before it counts as permanent. Milliseconds. */
  refusalsPassWithinMs: number;
  /**
   * Maximum time after a message's acceptance until the platform learns of it, including its retries. A message not polled
   * by then never will be. Milliseconds; 0 if the platform does not poll.
   */
  deliveredWithinMs: number;
  /** When a pulled reply shows its buttons, once: while it grows, or at its end. Defaults to never. */
  takesOffers?: 'growing' | 'finished';
  /** Whether our own connection shows pulled replies and is notified of each change. By default the platform polls. */
  isNotified?: boolean;
}

/**
 * How long the result of a fence check or lookup may be used. A claim changes hands only after its worker was silent for
 * longer; a process that was frozen meanwhile sees the elapsed time and checks again. Milliseconds on the monotonic clock.
 */
export const FENCE_VALID_MS = 2_000;

/**
 * Outcome of a post or an edit. `sent`: it is visible, under this handle from now on. `uncertain`: it may or may not be
 * visible. `busy`: it is not visible, and may be retried. `refused`: it is not visible, and `why` says whether a retry may
 * help. `unauthorised`: as in `PostResult`. `stopped`: the person ended the answer with the platform's own button.
 * `isAnswered`: the platform itself reported the uncertain outcome, so that it carries out nothing of the call later.
 * `isContentUnknown`: an earlier call of the same update may have changed the message.
 */
export type PushResult = { isContentUnknown?: boolean } & PushOutcome;
type PushOutcome =
  | { result: 'sent'; handle: string }
  | { result: 'busy'; retryAfterMs: number }
  | { result: 'refused'; why: Refusal }
  | { result: 'uncertain'; isAnswered?: boolean }
  | { result: 'unauthorised' | 'stopped' };

/** Result of looking up a post: handles, oldest first. */
export interface PostLookupResult {
  /** Messages that carry the post's key. */
  keyed: string[];
  /** Our messages without a key that are younger than the question. The platform cannot tell their owner. */
  orphans: string[];
  /** Messages that a worker has begun to remove. */
  pendingDeletes: string[];
  /** The key's answer is complete there, under this key or the key of a message merged with it. */
  isComplete?: boolean;
}

export type RemovalResult = 'gone' | 'left' | 'refused' | 'later';

/**
 * Shows answers on a platform that does not poll us, each as one growing message
 * (SECURITY.md noted-before-posted, looked-up-not-repeated, whole-texts). Calls never throw, whatever the platform answers.
 * Any process can continue with a handle.
 */
export interface PushReplies {
  /** Posts the visible message. @param postKey stored with the message, for `find` */
  open(target: string, snapshot: ReplySnapshot, postKey: string): Promise<PushResult>;
  /**
   * Updates the message to this snapshot. Safe to repeat: the result is this snapshot, whatever the message showed before.
   */
  update(handle: string, snapshot: ReplySnapshot, postKey: string): Promise<PushResult>;
  /**
   * Looks for a post of unknown fate among all messages since the question.
   * @returns `unknown` if the platform cannot answer now
   */
  find(target: string, postKey: string): Promise<PostLookupResult | 'unknown'>;
  /**
   * Removes a message of ours that is not an answer. Safe to repeat.
   * @param isOrphan its owner is only presumed: the message is left alone unless it is a growing one
   * @returns `gone` if it no longer exists, `left` if it was left alone, `refused` if the platform refused the removal for a
   * reason that may pass, `later` if the removal may be retried soon
   */
  remove(handle: string, isOrphan: boolean): Promise<RemovalResult>;
  /** The place (chat or thread) of a post to this target. Two posts in the same place may be mistaken for each other. */
  placeOf(target: string): string;
  /**
   * Shows the sender a notice about their message that only they can see, where the platform supports that. Failures are
   * ignored.
   */
  postEphemeral?(target: string, text: string): Promise<void>;
  /** Asks a person privately what is wrong with an answer, with one label per reason. Failures are ignored. */
  requestFeedbackReason?(
    followUp: FeedbackFollowUp,
    answer: DeliveryId,
    words: { question: string; labels: ReadonlyMap<FeedbackReason, string> },
  ): Promise<void>;
  /** Replaces that question with a thank-you. Failures are ignored. */
  acknowledgeFeedback?(followUp: FeedbackFollowUp, text: string): Promise<void>;
  /**
   * Shows a status before there is text, where the platform has a status line; an empty one clears it. Failures are ignored.
   * @returns false if the line may still come to show another status
   */
  showStatus?(target: string, status: string): Promise<boolean>;
  /** Files beside answers; absent where the platform has none. */
  readonly files?: FileReplies;
}

/** A file for upload to a platform. */
export interface AnswerFile {
  name: string;
  text: string;
}

/** Outcome of an upload. */
export type UploadResult = { result: 'sent'; fileId: string } | { result: Exclude<PostResult, 'sent'> };

/** Uploads and shows files in two steps. Calls never throw, whatever the platform answers. */
export interface FileReplies {
  /** Whether a file may be shown at an answer's target. */
  canShow(target: string): boolean;
  /** Uploads the bytes. They are invisible before `show`; the platform discards a file that is never shown. */
  upload(file: AnswerFile): Promise<UploadResult>;
  /**
   * Shows an uploaded file below the answer. Safe to repeat: one id is shown once.
   * @param given.mayStand whether an earlier attempt may have been carried out
   */
  show(target: string, fileId: string, given: { name: string; mayBeShown: boolean }): Promise<PostResult>;
}

/** Writer of a message in a thread. `own`: an answer of ours, with the post key given to `PushReplies`. */
export type ThreadWriter =
  { kind: 'person'; userId: string } | { kind: 'app'; name?: string } | { kind: 'own'; postKey: string };

/** A message of a thread. */
export interface ThreadMessage {
  kind: 'message';
  /** As in `InboundMessage`. */
  messageId: string;
  saidAtMs: number;
  writer: ThreadWriter;
  /** Its texts, files and images, forwarded ones last. Texts name people and channels by id: `@U1`, `#C1`. */
  parts: readonly MessagePart[];
}

/** Messages of a thread that were not read. `about`: roughly how many, if known. */
export interface ThreadGap {
  kind: 'gap';
  about?: number;
}

/**
 * A thread before a question in it, oldest first, the first message always included. `unread`: the platform refuses the
 * thread, or does not return it in time.
 */
export type ThreadReading =
  | {
      kind: 'read';
      entries: readonly (ThreadMessage | ThreadGap)[];
      /** All references to people and channels (`@U1`, `#C1`), each with its name if the platform returned one in time. */
      names: ReadonlyMap<string, string | undefined>;
    }
  | { kind: 'unread' };

/** A redirect of the browser to a platform's web sign-in. */
export interface WebSignInRedirect {
  location: string;
  /** State for `identify` (a nonce), which the caller stores sealed for this browser. Empty if not needed. */
  kept: string;
}

/** A return from a platform's web sign-in. The caller has verified browser, transaction and `state`. */
export interface WebSignInCallback {
  code: string;
  /** As received; well-formed. */
  query: URLSearchParams;
  redirectUri: string;
  state: string;
  kept: string;
}

/**
 * A platform's web sign-in: proves in a browser which chat account uses it (SECURITY.md proof-of-person). It only
 * identifies the person: the caller checks browser, transaction and `state`, and whether the person is the asker.
 */
export interface WebSignIn {
  /** @param leaving its state has only letters and digits, at most 128. @throws PlatformError */
  startAuthorization(leaving: { redirectUri: string; state: string }): Promise<WebSignInRedirect>;
  /**
   * Redeems a return, exactly once, whatever the outcome.
   * @returns the platform's user id in this deployment's organisation
   * @throws PlatformError `not_a_member` for a member of another organisation; any other code if the platform does not
   * identify the person
   */
  identify(arrival: WebSignInCallback): Promise<{ userId: string; tenant: string }>;
  /** Whether it works only in the app's own browser. */
  readonly needsAppBrowser: boolean;
}

/**
 * Outcome of an installation through the platform's own pages. `not-invited`: the settings do not list that organisation.
 */
export type InstallOutcome = 'installed' | 'not-invited' | 'declined' | 'not-begun-here' | 'refused';

/** Adds the app to a further organisation through the platform's own pages. */
export interface InstallPages {
  /** @returns the address to redirect the browser to, and a cookie value for its return */
  begin(): { location: string; cookie: string };
  /** @throws any error of the store while it is unavailable */
  finish(query: URLSearchParams, cookie: string | undefined): Promise<InstallOutcome>;
}

/** How a page leads back to the chat: by closing itself in the app's own browser, or by a link that the app opens. */
export type BackToChat =
  { kind: 'close-window'; platform: PlatformName } | { kind: 'link'; platform: PlatformName; href: string };

/** One line of `npm run check`. */
export interface CheckResult {
  name: string;
  /** `hint`: everything works, but the operator may want to change something. */
  verdict: 'ok' | 'hint' | 'warning' | 'fault';
  /** The finding; never contains a secret. */
  detail: string;
  nextStep?: string;
}

/** Verifies a delivery's raw bytes, then reads them. Pure except for the clock; never throws for outside input. */
export type DeliveryReader = (body: Buffer) => Delivery;

export type RefusedDelivery = Extract<Delivery, { kind: 'refused' }>;

/**
 * State of a connection. `open`: deliveries arrive here; `gapMs` is how long no process of this deployment is known to have
 * had the connection, if only one can. `closed`: lost; it reconnects by itself. `replaced`: another program connected as
 * this bot, and the connection is taken back after `restMs`; `level` counts such replacements in a row. `standby`: another
 * process of this deployment has it; `isReplaced` if another program has it. `refused`: the platform rejects the secret, and
 * there is no retry before a restart.
 */
export type ConnectionChange =
  | { state: 'open'; gapMs?: number }
  | { state: 'closed'; reason: string }
  | { state: 'replaced'; level: number; restMs: number }
  | { state: 'standby'; isReplaced: boolean }
  | { state: 'refused'; reason: string };

/** Callbacks of a connection. */
export interface ConnectionHandlers {
  /**
   * Accepts a delivery as the webhook would: by the same accept script, before the platform gets an acknowledgement.
   * @param read called once the platform is ready to read. @returns whether the delivery is stored or unwanted; otherwise
   * the platform must send it again. Never rejects
   */
  take(read: () => Delivery): Promise<boolean>;
  /** Called for each change of state; must not throw or wait. */
  onChange(change: ConnectionChange): void;
  /** Ends a reply whose answer the platform refused there, and which is sent as a new message instead. */
  refusedNotice: string;
  /**
   * Called if the platform refused an answer by every method of the connection. Stores it for the person's next reply and
   * notifies the operator. Safe to repeat.
   * @throws Error if that is not possible now
   */
  onUndeliverable(answer: UndeliverableAnswer): Promise<void>;
  /** Called when a delivery is lost that the platform sends only once; must not throw or wait. */
  onLost(reason: string): void;
}

export interface UndeliverableAnswer {
  replyId: DeliveryId;
  userId: string;
  text: string;
}

/** A connection that is kept open from its creation. */
export interface PlatformConnection {
  /** Closes the connection once received deliveries are acknowledged, after a few seconds at most. */
  close(): Promise<void>;
}

/** A messaging platform. Each folder has one implementation; the contract suite in test/bot/platforms runs against each. */
export interface Platform {
  readonly name: PlatformName;
  /** Whether the platform takes our calls; absent if unknown. */
  readonly access?: Pick<PlatformAccess, 'fault'>;
  /** Tenant and app of every message, so that a poll finds its message. `ofTenant` returns further tenants. */
  readonly tenant: string;
  readonly app: string;
  /**
   * The same platform for a further tenant whose messages arrive at the same address, with its own token; undefined for a
   * tenant that is not served. Absent if there is only one tenant. The result is for outgoing calls and people lookups;
   * deliveries go to the first tenant's platform.
   */
  ofTenant?(tenant: string): Platform | undefined;
  readonly install?: InstallPages;
  readonly replyTraits: ReplyTraits;
  /** How long the platform waits for the response to a delivery. Milliseconds. */
  readonly responseDeadlineMs: number;
  /**
   * Checks a delivery's headers and query, once. Without a possibly valid signature the delivery is refused and its body is
   * not read. Cheap; never throws for outside input.
   */
  verifyHeaders(head: DeliveryHead): RefusedDelivery | DeliveryReader;
  /**
   * Work to await before a delivery is read, if the platform must first be asked for our identity; otherwise undefined.
   * Bounded in time; never rejects.
   */
  ready?(): Promise<unknown> | undefined;
  /**
   * Opens the connection over which the platform delivers, and keeps it open. Absent where the platform calls the webhook;
   * if present, there is no webhook.
   */
  connect?(use: ConnectionHandlers): PlatformConnection;
  /** Renders a reply in the platform's dialect, within `maxBytes`, with broadcast mentions neutralised on the whole text. */
  renderReply(view: ReplyView): string;
  /**
   * Splits a finished text of about one message into messages that each fit `maxBytes`, neutralised like a rendered reply.
   * Rendering a piece again changes nothing.
   * @param reserveBytes room that each message reserves for an addition. Defaults to 0
   */
  splitReply(text: string, reserveBytes?: number): string[];
  /** Like `splitReply` for an answer of any length. May take time, but does not block the event loop. Never rejects. */
  splitAnswer(text: string, reserveBytes?: number): Promise<string[]>;
  /** Present where the platform does not poll us. */
  readonly push?: PushReplies;
  /**
   * Sends an answer by the message's `laterReplyHandle`. Absent where the platform has no such handles.
   * @param part number of the message, for a handle valid for many. Defaults to 0
   */
  replyLater?(handle: string, text: string, part?: number): Promise<PostResult>;
  /**
   * Shows a file below the answer by that handle. Absent where the platform has no such handles. Safe to repeat with the
   * same file: it is shown once.
   * @returns `busy` until it is shown; `refused` if it is not shown and never will be
   */
  replyLaterAsFile?(handle: string, file: AnswerFile): Promise<PostResult>;
  /**
   * Sends an unsolicited message to a person. Absent where the platform or its settings do not allow it. Also returns `busy`
   * while the person has received so much that the platform would drop more, or is receiving another text of several
   * messages.
   */
  writePrivately?(userId: string, text: string, partOf?: PartOfText): Promise<PostResult>;
  /**
   * Splits a text into messages that each fit one call of `writePrivately`; absent where one call takes any text. No two
   * messages are equal, because the platform may drop the second as a duplicate; the same text is always split in the same
   * way.
   */
  splitPrivately?(text: string): string[];
  /** Whether `writePrivately` takes markdown. Defaults to plain text. */
  readonly writesMarkdownPrivately?: boolean;
  /** Whether messages in a thread with an answer may arrive without mentioning the bot (`isUnaddressed`). */
  readonly followsThreads?: boolean;
  /** Whether a reply can mention one person (`ReplyView.mention`). Defaults to false. */
  readonly canMention?: boolean;
  /**
   * Suggests questions to a person who has opened a chat, in their language if known, else in `usual`. Absent where the
   * welcome contains them. Never rejects for the platform's answers; failures are ignored.
   */
  suggest?(target: string, prompts: SuggestedPrompts, defaultLanguage: Language): Promise<void>;
  /**
   * Downloads a media reference and decrypts it; host-pinned and bounded (SECURITY.md pinned-media). @throws PlatformError
   */
  fetchMedia(mediaRef: string, maxBytes: number, signal: AbortSignal): Promise<FetchedMedia>;
  /**
   * The plain user id of a sender, converted where the platform encrypts it; undefined if that is not possible.
   * @throws PlatformError `unreachable` if the platform must be asked and does not answer now
   */
  plainUserId(userId: string): Promise<string | undefined>;
  /**
   * A person's display name; undefined if the platform does not return it. Absent where it never does.
   * @throws PlatformError if the platform does not answer within seconds
   */
  displayNameOf?(userId: string): Promise<string | undefined>;
  /**
   * Names of people and channels that a message mentions by id (`InboundMessage.unnamed`), by reference. Unknown ones are
   * omitted. Absent where messages contain names. Bounded in time; never rejects.
   */
  namesOf?(references: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Reads the thread of a question, up to the question. Absent where there are no threads, or where they cannot be read.
   * At most two calls for the messages, and bounded in time; never rejects.
   * @param target the question's `replyTarget`
   */
  readThread?(target: string): Promise<ThreadReading>;
  readonly webSignIn?: WebSignIn;
  /** Whether a page's user agent is this app's own browser. A hint for texts only, never proof. */
  isAppBrowser(userAgent: string): boolean;
  /** How a page in this browser leads back to the chat; undefined if only text can. */
  backToChat(userAgent: string): BackToChat | undefined;
  /**
   * Results of `npm run check` for this platform's credentials. Never throws for the platform's answers.
   * @param isStart true at startup: skips checks that opening the connection repeats shortly afterwards
   */
  check(isStart?: boolean): Promise<CheckResult[]>;
}
