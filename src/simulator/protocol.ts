import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type Router from '@koa/router';
import type { NowMs } from '../shared/clock.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import type { AppSessions } from './browser/app-sessions.ts';
import type { RatingReason } from './api.ts';
import type { ChatLog } from './chat-log.ts';
import type { Directory } from './directory.ts';
import type { EventHub } from './event-hub.ts';
import type { MediaStore } from './media-store.ts';
import type { MessageStore } from './message-store.ts';
import type { ProtocolTrace } from './protocol-trace.ts';
import type { StoredMessage } from './stored-message.ts';
import type { Timing } from './timing.ts';

/** What a person writes. */
export interface Saying {
  person: string;
  conversationId: string;
  text: string;
  imageIds: readonly string[];
  /** Files of other kinds. */
  fileIds?: readonly string[];
  /** The message that is quoted, or on a platform with threads replied to in its thread. */
  quoteMessageId?: string;
  /** See `SendRequest`. */
  clientId?: string;
}

/**
 * What became of one delivery to the bot.
 * `silent`: an empty answer, the bot has nothing to say (yet). `invalid`: an answer that the platform cannot accept.
 */
export type DeliveryResult =
  | { kind: 'reply'; reply: unknown }
  | { kind: 'silent' }
  | { kind: 'refused'; status: number }
  | { kind: 'invalid'; reason: string }
  | { kind: 'timeout' }
  | { kind: 'unreachable' };

export type Rating = 'good' | 'bad' | 'withdrawn';

/** Why somebody rates an answer so, where the app asks. */
export interface RatingWhy {
  reasons?: readonly RatingReason[];
  /** Free words. */
  words?: string;
}

/** The bot that the messenger is for. */
export interface BotPlace {
  readonly name: string;
  /** Its PUBLIC_URL. */
  readonly url: string;
  isReachable(): boolean;
}

/** What happens behind somebody's back. */
export interface BackgroundWork {
  /** Aborted at the messenger's stop: what is under way stays as it is and is taken up by the next start. */
  readonly signal: AbortSignal;
  /** Logs what went wrong with it; a stop is no fault. @param what a sentence for the log */
  failed(error: unknown, what: string): void;
}

/** What every protocol stands on: the whole app without a platform's rules, which is why it has one field more than other options. */
export interface MessengerSide {
  readonly directory: Directory;
  readonly store: MessageStore;
  readonly chatLog: ChatLog;
  readonly media: MediaStore;
  readonly hub: EventHub;
  readonly trace: ProtocolTrace;
  readonly bot: BotPlace;
  readonly background: BackgroundWork;
  readonly nowMs: NowMs;
  readonly timing: Timing;
  /** The messenger's own address. */
  url(): string;
}

/** What a protocol may need besides, to keep something of its own and to sign people in. */
export interface ProtocolParts {
  readonly redis: RedisClient;
  readonly sessions: AppSessions;
  /** Origins of the bot and of the service. */
  readonly trustedOrigins: readonly string[];
}

/** What may happen to the connections that the bot holds. */
export interface BotConnections {
  readonly size: number;
  /** How many were opened so far. */
  readonly opened: number;
  /** Ends all of them at once, as a broken network does. */
  cutAll(): void;
  /** The platform wants others in their place, and says so or not before it ends them. */
  replaceAll(reason: string): void;
  /** How many tries to prove the bot's secret were refused, where a connection is proved by one. */
  readonly refused?: number;
  /** The platform forgets that the bot is subscribed, where it can, while the connection stands. */
  forgetSubscription?(): void;
  /** From now on nothing passes over the present connections, though they stand. */
  freezeAll?(): void;
  /** A person clicks on a card of the bot in their private chat. @returns what the bot puts in its place, if anything */
  clickCard?(personId: string, click: CardClick): Promise<DeliveryResult>;
}

/** A click on a card that the bot has sent. */
export interface CardClick {
  cardType: string;
  eventKey: string;
  taskId: string;
}

/** A message that was edited or deleted: how it stands, and the telling of it, which may take minutes. */
export interface Amended {
  message: StoredMessage;
  told: Promise<unknown>;
}

/** A platform as the messenger plays it, before it is started. */
export interface ProtocolKind {
  readonly name: 'wecom' | 'slack';
  /** 32 bytes, derived from the bot's credentials: conversations are sealed under it, the messenger has no secret of its own. */
  readonly storeKey: Buffer;
  /** How the browser names itself in which people open links of a chat. */
  readonly userAgent: string;
  /** Whether the reference service takes the app's own web sign-in, so that nobody types a password there. */
  readonly signsInAtService: boolean;
  start(side: MessengerSide, parts: ProtocolParts): Protocol;
}

/**
 * A platform at work: brings to the bot what people do, shows what the bot answers, and holds both to the platform's rules.
 * Functions that take a person or a message throw MessengerError `not_found` or `bad_request`.
 */
export interface Protocol {
  /** Shows a person's message and delivers it in the background where the platform tells the bot of it. */
  send(saying: Saying): Promise<StoredMessage>;
  /** Stores and shows a message without delivering it. */
  prepare(saying: Saying): Promise<StoredMessage>;
  /** Delivers a prepared message, `copies` times at once. @returns the outcome of each copy */
  deliver(question: StoredMessage, copies: number): Promise<DeliveryResult[]>;
  /** Delivers a message again that was delivered before, the very same; nothing new is shown for it. */
  redeliver(messageId: string, copies: number): Promise<DeliveryResult[]>;
  /** Sends a message that failed once more, as the same delivery. */
  resend(personId: string, messageId: string): Promise<StoredMessage>;
  /** The bot's answer to a message as it is now. */
  answerTo(messageId: string): Promise<StoredMessage | undefined>;
  /** The person presses "Stop" at a growing answer, or at their own question that has none yet. */
  stop(personId: string, messageId: string): Promise<void>;
  /** The person edits a message of theirs, or deletes it (no text), where the platform tells the bot of that. */
  amend?(personId: string, messageId: string, text: string | undefined): Promise<Amended>;
  /**
   * The person presses a button of a message: one that has this id, that the bot calls so, or that is labelled so. Resolves with the
   * message once the bot has taken it. @throws MessengerError `not_taken`
   */
  press(personId: string, messageId: string, button: string): Promise<StoredMessage>;
  /** A person opens their private chat. */
  enterChat(personId: string): Promise<void>;
  rate(personId: string, messageId: string, rating: Rating, why?: RatingWhy): Promise<StoredMessage>;
  /** Whether the bot proves at its address that it holds the platform's keys. */
  verifyBot(): Promise<boolean>;
  /** The bot can be reached again. */
  botCameBack(): Promise<void>;
  /** The platform's own addresses. */
  routes(): Router;
  /** Where the bot is reached over connections that it opens. */
  readonly connections?: BotConnections;
  /** A connection that asks to become another one (a socket), where the platform has such. @returns whether it is one of its own */
  upgrade?(request: IncomingMessage, stream: Duplex, head: Buffer): boolean;
  /** Takes up what an earlier run left under way. */
  resume(): Promise<void>;
  /** Resolves once every answer that the bot has finished is shown whole; one that it does not finish keeps it waiting. */
  lastLooks(): Promise<unknown>;
  /** Resolves once nothing is under way any more (after the signal was aborted). */
  settled(): Promise<void>;
}
