import type { IncomingHttpHeaders } from 'node:http';
import type { PlatformAccess } from './platform-access.ts';
import type { Chat, InboundAmendment, InboundMessage, InboundStop, Sender } from '../domain/message.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { PulledReply, ReplySnapshot, ReplyView } from '../domain/reply.ts';
import type { FeedbackFollowUp, FeedbackReason, InboundFeedback } from '../domain/feedback.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { SuggestedPrompt, SuggestedPrompts } from './prompts-file.ts';
import type { Refusal } from './write-meaning.ts';

/** An HTTP answer to the platform. */
export interface HttpAnswer {
  status: number;
  contentType?: string;
  body: string;
}

/** A delivery's raw bytes as they came. Only these are hashed, never a re-serialised body (SECURITY.md raw-bytes-only). */
export interface RawDelivery {
  method: 'GET' | 'POST';
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What stands before a delivery's body. */
export type DeliveryHead = Omit<RawDelivery, 'body'>;

/**
 * What a delivery turned out to be. `refused` has failed verification or could not be parsed before it;
 * everything else is verified. `offSec` says how far its time lies from ours, where that is why. `answer…` functions build the platform's HTTP answer.
 */
export type Delivery =
  | { kind: 'refused'; status: 400 | 401; reason: string; offSec?: number }
  | { kind: 'handshake'; answer: HttpAnswer }
  | {
      kind: 'message';
      message: InboundMessage;
      /** It names nobody: it is meant for us only where an answer of ours stands in its thread, and is dropped unread elsewhere. */
      isUnaddressed?: true;
      /** It was said by pressing what stands at an answer. */
      pressed?: Press & { answer: DeliveryId };
      answer(reply: PulledReply | undefined): HttpAnswer;
    }
  | { kind: 'poll'; replyId: DeliveryId; chat: Chat; sender: Sender; answer(reply: PulledReply): HttpAnswer }
  | { kind: 'entered-chat'; sender: Sender; botName: string; answer(welcome: Welcome): HttpAnswer }
  /** Somebody has opened a chat in which nothing is said yet; `target` is for `suggest`. */
  | { kind: 'opened-chat'; tenant: string; sender: Sender; target: string; answer: HttpAnswer }
  | { kind: 'stop'; stop: InboundStop; pressed?: Press; answer: HttpAnswer }
  | { kind: 'amendment'; amendment: InboundAmendment; answer: HttpAnswer }
  | { kind: 'feedback'; feedback: InboundFeedback; answer: HttpAnswer }
  | { kind: 'ignored'; reason: string; answer: HttpAnswer };

/** What somebody is told who enters the chat. */
export interface Welcome {
  botName: string;
  text: string;
  prompts: readonly SuggestedPrompt[];
  /** Stands before questions that are told as words. */
  heading: string;
}

/** Where somebody pressed something, and is told there, alone, what nothing came of; in the language of what they pressed. */
export interface Press {
  target: string;
  language: Language;
}

/**
 * What became of an outside post: `uncertain` when it may or may not have arrived, `busy` when it did not and may be tried again.
 * `declined`: it did not arrive, by a refusal that may pass (`Refusal`); one that lasts longer than `refusalsPassWithinMs` is for good.
 * `unauthorised`: nothing was posted, since the platform takes no call of ours until the operator mends the token, its scopes
 * or the address that it trusts; what was to be said is kept and tried again.
 */
export type PostResult = 'sent' | 'refused' | 'declined' | 'uncertain' | 'busy' | 'unauthorised';

/** Which of several messages one is, where together they are one text. */
export interface PartOfText {
  /** The text's, the same for each of its messages and each try. */
  name: string;
  isLast: boolean;
}

/** What a media reference led to. */
export interface FetchedMedia {
  bytes: Buffer;
  /** As it was given with the bytes; where the message names the file, that counts. */
  name?: string;
}

/** What a platform's replies can do, as data. */
export interface ReplyTraits {
  /** How a live reply grows: the platform polls us, or we edit the whole text, or we append. */
  delivery: 'pull' | 'edit' | 'append';
  /** How long a live reply can grow, from the message on. Milliseconds. */
  liveLifetimeMs: number;
  /** How long a message's `laterReplyHandle` is good, from the message on. Milliseconds; 0 where there is none. */
  laterReplyLifetimeMs: number;
  /** How many messages the handle is good for. With `many` each has a number, and posting one again changes nothing. */
  laterReplyUses: 'one' | 'many';
  /** How long before the end of that life it is finished and the answer goes the platform's other way. Milliseconds. */
  handoverMarginMs: number;
  /** The largest text of one message, in UTF-8 bytes after rendering. */
  maxBytes: number;
  /** Floor between two edits (or snapshots) of one reply. Milliseconds. */
  minEditGapMs: number;
  /** Whether the platform has a place for the model's thought, or only a line that says what goes on. */
  thinking: 'block' | 'status';
  /** How a post whose fate is unknown is found again after a crash. `once`: the platform refuses the second use by itself. */
  reconcile: 'key' | 'lookup' | 'content' | 'once' | 'none';
  /** The pause between two look-ups of a post whose fate is unknown. Milliseconds; 0 where nothing is pushed. */
  lookUpAfterMs: number;
  /**
   * How long after a post left the platform may still carry it out, although its caller gave up: one that does not stand then
   * never will. Milliseconds; 0 where nothing is pushed.
   */
  postSettlesWithinMs: number;
  /** How long a refusal that may pass is tried again, before it counts as one for good. Milliseconds. */
  refusalsPassWithinMs: number;
  /**
   * From the acceptance of a message on, how long the platform may still learn that it was accepted (all its tries). One
   * that it has not polled by then it never will. Milliseconds; 0 where it does not poll.
   */
  deliveredWithinMs: number;
  /** From when on a pulled reply takes what may be pressed at it, once: while it grows, or with its end; never unless told. */
  takesOffers?: 'growing' | 'finished';
  /** Who shows a pulled reply is told of each change, over a connection of ours; unless told the platform asks by itself. */
  isTold?: boolean;
}

/**
 * For so long an answer of the fence, or what a call found, may be acted upon. A claim changes hands only after its worker was
 * silent for longer; a process that was frozen meanwhile finds more time gone, and asks anew. Milliseconds of the monotonic clock.
 */
export const FENCE_HOLDS_MS = 2_000;

/**
 * What became of a post or an edit. `sent`: it stands, under this handle from now on. `uncertain`: it may or may not
 * stand. `busy`: it does not, and may be tried again. `refused`: it does not, and `why` says whether trying again may help.
 * `unauthorised`: as in `PostResult`.
 * `stopped`: the person ended the answer by the platform's own button.
 */
export type PushResult =
  | { result: 'sent'; handle: string }
  | { result: 'busy'; retryAfterMs: number }
  | { result: 'refused'; why: Refusal }
  | { result: 'uncertain' | 'unauthorised' | 'stopped' };

/** What a look-up of a post found: handles, oldest first. */
export interface FoundPosts {
  /** Messages that carry the post's key. */
  keyed: string[];
  /** Messages of ours there that carry none and are younger than the question. The platform cannot say whose they are. */
  strays: string[];
  /** Messages that a worker had begun to take away. */
  doomed: string[];
  /** The answer that the key belongs to stands there whole, under it or under that of a message with which it was merged. */
  isWhole?: boolean;
}

/**
 * How a platform that does not poll us shows an answer: one message that grows (SECURITY.md noted-before-posted, looked-up-not-repeated, whole-texts). Calls never
 * throw for what the platform answers. Handles are strings that any process can go on with.
 */
export interface PushReplies {
  /** Posts the visible message. @param postKey kept with it, so that `find` knows it again */
  open(target: string, snapshot: ReplySnapshot, postKey: string): Promise<PushResult>;
  /** Brings the message to this snapshot. Safe to repeat: it ends as this snapshot, whatever stood there. */
  update(handle: string, snapshot: ReplySnapshot, postKey: string): Promise<PushResult>;
  /** Looks for a post whose fate is unknown, in all that was said since the question. @returns `unknown` when the platform cannot say now */
  find(target: string, postKey: string): Promise<FoundPosts | 'unknown'>;
  /**
   * Takes away a message of ours that is nobody's answer. Safe to repeat.
   * @param isStray that it is an answer's is only supposed: it is left alone unless it is one that grows
   * @returns `gone` when it does not stand any more, `left` when it was left alone, `later` when it may be tried again
   */
  remove(handle: string, isStray: boolean): Promise<'gone' | 'left' | 'later'>;
  /** Where a post to this target stands among others: two with the same place may be taken for each other. */
  placeOf(target: string): string;
  /** Says something about their message to its sender alone, in its place, where the platform can. A failure is nobody's business. */
  tellAsker?(target: string, text: string): Promise<void>;
  /** Asks somebody alone what is wrong with an answer, one word for each reason. A failure is nobody's business. */
  askWhy?(
    followUp: FeedbackFollowUp,
    answer: DeliveryId,
    words: { question: string; labels: ReadonlyMap<FeedbackReason, string> },
  ): Promise<void>;
  /** Puts words of thanks in the place of that question. A failure is nobody's business. */
  thank?(followUp: FeedbackFollowUp, text: string): Promise<void>;
  /** Says what is going on before there is text, where the platform has such a line. A failure is nobody's business. */
  showStatus?(target: string, status: string): Promise<void>;
  /** Files beside answers; absent where there are none. */
  readonly files?: FileReplies;
}

/** A file as it is brought to a platform. */
export interface AnswerFile {
  name: string;
  text: string;
}

/** What became of bringing a file's bytes. */
export type FileBrought = { result: 'sent'; fileId: string } | { result: Exclude<PostResult, 'sent'> };

/** How a platform takes a file: its bytes first, then the order to show it. Calls never throw for what the platform answers. */
export interface FileReplies {
  /** Whether a file may stand where an answer goes. */
  canShow(target: string): boolean;
  /** Brings the bytes. Nobody sees them before `show`; what is never shown the platform forgets. */
  bring(file: AnswerFile): Promise<FileBrought>;
  /**
   * Shows a file that was brought below the answer. Safe to repeat: one id is shown once.
   * @param given.mayStand whether an earlier try may have been carried out
   */
  show(target: string, fileId: string, given: { name: string; mayStand: boolean }): Promise<PostResult>;
}

/** A browser's way to a platform's web sign-in. */
export interface WebDeparture {
  location: string;
  /** What `identify` will need (a nonce); the caller keeps it sealed for this browser. Empty where it needs nothing. */
  kept: string;
}

/** A return from a platform's web sign-in, whose browser, transaction and `state` were found right. */
export interface WebArrival {
  code: string;
  /** As it came, sound in form. */
  query: URLSearchParams;
  redirectUri: string;
  state: string;
  kept: string;
}

/**
 * A platform's web sign-in: proves in a browser which chat account is using it (SECURITY.md proof-of-person). It says who is there
 * and nothing more: browser, transaction, `state`, and whether that is whoever asked, are the caller's.
 */
export interface WebSignIn {
  /** @param leaving its state has letters and digits only, at most 128. @throws PlatformError */
  leave(leaving: { redirectUri: string; state: string }): Promise<WebDeparture>;
  /**
   * Redeems a return, once, whatever happens.
   * @returns the platform's user id, of this deployment's own organisation
   * @throws PlatformError `not_a_member` for somebody of another one; every other code when the platform does not say who is there
   */
  identify(arrival: WebArrival): Promise<{ userId: string; tenant: string }>;
  /** Whether it works in the app's own browser only. */
  readonly needsAppBrowser: boolean;
  /** Where the browser is sent and may be sent on, as sources of the pages' `form-action`: `https://open.weixin.qq.com`. */
  readonly origins: string[];
}

/** What came of an administrator's way through the platform's own pages. `not-invited`: the settings do not name that organisation. */
export type InstallOutcome = 'installed' | 'not-invited' | 'declined' | 'not-begun-here' | 'refused';

/** Adds the app to a further organisation of the platform's, by the platform's own pages. */
export interface InstallPages {
  /** @returns where the browser goes, and the value of a cookie that it brings back */
  begin(): { location: string; cookie: string };
  /** @throws whatever the store throws while it is away */
  finish(query: URLSearchParams, cookie: string | undefined): Promise<InstallOutcome>;
}

/** How a page leads back into the app: by closing itself in the app's own browser, or by an address that the app opens. */
export type BackToChat =
  { kind: 'close-window'; platform: PlatformName } | { kind: 'link'; platform: PlatformName; href: string };

/** One line of `npm run check`. */
export interface CheckResult {
  name: string;
  verdict: 'ok' | 'warning' | 'fault';
  /** What was found; never a secret. */
  detail: string;
  nextStep?: string;
}

/** Verifies a delivery's raw bytes, then reads them. Pure but for the clock; never throws for what came from outside. */
export type ReadDelivery = (body: Buffer) => Delivery;

export type RefusedDelivery = Extract<Delivery, { kind: 'refused' }>;

/**
 * What a connection reports about itself. `open`: deliveries arrive here; `gapMs` is how long no process of this deployment is known
 * to have held it before, where only one can. `closed`: lost, and opened again by itself. `replaced`: another program connected as
 * this bot, and the connection is taken back after `restMs`; `level` counts how often in a row. `standby`: another process of this
 * deployment holds it; `isReplaced` where another program has it. `refused`: the platform does not accept the secret, and there is no
 * further try before a restart.
 */
export type ConnectionChange =
  | { state: 'open'; gapMs?: number }
  | { state: 'closed'; reason: string }
  | { state: 'replaced'; level: number; restMs: number }
  | { state: 'standby'; isReplaced: boolean }
  | { state: 'refused'; reason: string };

/** What a connection is kept with. */
export interface ConnectionUse {
  /**
   * Takes a delivery in as the webhook would: through the same accept script, before the platform is told anything.
   * @param read called once the platform is ready to read. @returns whether it is stored, or of no interest; otherwise the platform
   * is to send it again. Never rejects
   */
  take(read: () => Delivery): Promise<boolean>;
  /** Told of each change; must not throw or wait. */
  onChange(change: ConnectionChange): void;
  /**
   * The platform took an answer by no way of the connection. Keeps it for the person's next reply and tells the operator. Safe to repeat.
   * @throws where that is not possible now
   */
  onNotShown(answer: { replyId: DeliveryId; userId: string; text: string }): Promise<void>;
  /** A delivery is lost that the platform sends once only; must not throw or wait. */
  onLost(reason: string): void;
}

/** A connection that is kept open from its making on. */
export interface KeptConnection {
  /** Closes it, after what came over it is acknowledged, or seconds at most. */
  close(): Promise<void>;
}

/** A messaging app, seen from Parley. One implementation a folder; the contract suite in test/bot/platforms runs against each. */
export interface Platform {
  readonly name: PlatformName;
  /** Whether it takes our calls; absent where that cannot be said. */
  readonly access?: Pick<PlatformAccess, 'fault'>;
  /** The tenant and app that every message carries, so that a poll finds what a message began; further tenants by `ofTenant`. */
  readonly tenant: string;
  readonly app: string;
  /**
   * The same platform for a further tenant whose messages come by the same address, with a token of its own; undefined for one that is
   * not served. Absent where there is one tenant. Such a platform is for what goes out and for its people; deliveries come to the first.
   */
  ofTenant?(tenant: string): Platform | undefined;
  readonly install?: InstallPages;
  readonly replyTraits: ReplyTraits;
  /**
   * Judges what stands before a delivery's body, once. Where no signature that could be right stands there, it is refused whatever its
   * body says, and nothing of that is read. Cheap; never throws for what came from outside.
   */
  admit(head: DeliveryHead): RefusedDelivery | ReadDelivery;
  /**
   * What a delivery has to wait for before it is read, where the platform must be asked who we are; undefined otherwise. Bounded; never
   * rejects.
   */
  pending?(): Promise<unknown> | undefined;
  /**
   * Opens the connection over which the platform delivers, and keeps it open. Absent where it calls the webhook; where this is
   * present, there is no webhook.
   */
  connect?(use: ConnectionUse): KeptConnection;
  /** Writes a reply in the platform's dialect, within `maxBytes`, with broadcast marks neutralised on the whole text. */
  renderReply(view: ReplyView): string;
  /**
   * Cuts a finished text of about one message into messages that each fit `maxBytes`, neutralised like a rendered reply: rendering a piece
   * once more changes nothing.
   * @param reserveBytes room that each message keeps for something that is added to it; 0 unless told
   */
  splitReply(text: string, reserveBytes?: number): string[];
  /** `splitReply` for an answer of any length, which may take time: it holds nobody else up. Never rejects. */
  splitAnswer(text: string, reserveBytes?: number): Promise<string[]>;
  /** Present where the platform does not poll us. */
  readonly push?: PushReplies;
  /**
   * Sends an answer by the message's `laterReplyHandle`. Absent where the platform has no such way.
   * @param part which message of this handle it is, where it is good for many; 0 unless told
   */
  replyLater?(handle: string, text: string, part?: number): Promise<PostResult>;
  /**
   * Shows a file below the answer by that handle. Absent where the platform has no such way. Safe to repeat with the same file: it is
   * shown once. @returns `busy` until it stands; `refused` where it stands nowhere, and never will
   */
  replyLaterAsFile?(handle: string, file: AnswerFile): Promise<PostResult>;
  /**
   * Writes to a person unasked. Absent where the platform or its settings do not allow it. `busy` also while the person was
   * written so much that the platform would drop more, or is being written another text of several messages.
   */
  writePrivately?(userId: string, text: string, partOf?: PartOfText): Promise<PostResult>;
  /**
   * Cuts a text into messages that each leave in one call of `writePrivately`; absent where one takes any text. No two are the
   * same, since the platform may take the second for a repetition; the same text is always cut in the same way.
   */
  splitPrivately?(text: string): string[];
  /** Whether `writePrivately` takes markdown; plain text unless told. */
  readonly writesMarkdownPrivately?: boolean;
  /** Whether messages of a thread in which an answer stands may come without naming the bot (`isUnaddressed`). */
  readonly followsThreads?: boolean;
  /** Whether a reply can call one person (`ReplyView.mention`); unless told it cannot. */
  readonly canMention?: boolean;
  /**
   * Offers questions to somebody who has opened a chat, in their language where the platform tells it, else in the usual one. Absent
   * where the welcome carries them. Never rejects for what the platform answers; a failure is nobody's business.
   */
  suggest?(target: string, prompts: SuggestedPrompts, usual: Language): Promise<void>;
  /** Downloads a media reference, decrypted; host-pinned and bounded (SECURITY.md pinned-media). @throws PlatformError */
  fetchMedia(mediaRef: string, maxBytes: number, signal: AbortSignal): Promise<FetchedMedia>;
  /**
   * The plain user id of a sender, converted where the platform encrypts it; undefined where that cannot be done.
   * @throws PlatformError `unreachable` when the platform would have to be asked and does not answer now
   */
  plainUserId(userId: string): Promise<string | undefined>;
  /**
   * The name under which people see somebody; undefined where the platform does not tell. Absent where it never does.
   * @throws PlatformError when the platform does not answer within seconds
   */
  displayNameOf?(userId: string): Promise<string | undefined>;
  /**
   * The names of people and channels that a message mentions by their ids (`InboundMessage.unnamed`), by reference; unknown ones are left
   * out. Absent where messages hold names. Bounded in time; never rejects.
   */
  namesOf?(references: readonly string[]): Promise<ReadonlyMap<string, string>>;
  readonly webSignIn?: WebSignIn;
  /** Whether a page's user agent is this app's own browser. A hint for texts, never evidence. */
  isAppBrowser(userAgent: string): boolean;
  /** How a page in this browser leads back to the chat; undefined where only words can. */
  backToChat(userAgent: string): BackToChat | undefined;
  /**
   * What `npm run check` says about this platform's credentials. Never throws for what the platform answers.
   * @param isStart asked at a start: what the connection itself finds out a moment later is not tried
   */
  check(isStart?: boolean): Promise<CheckResult[]>;
}
