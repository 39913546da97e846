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

/** A person's message. */
export interface UserMessage {
  person: string;
  conversationId: string;
  text: string;
  imageIds: readonly string[];
  /** Files other than images. */
  fileIds?: readonly string[];
  /** The message to quote or, on a platform with threads, to reply to in its thread. */
  quoteMessageId?: string;
  /** See `SendRequest`. */
  clientId?: string;
}

/**
 * Result of one delivery to the bot. `silent`: an empty response, the bot has nothing to say (yet). `invalid`: a response
 * that the platform cannot accept.
 */
export type DeliveryResult =
  | { kind: 'reply'; reply: unknown }
  | { kind: 'silent' }
  | { kind: 'refused'; status: number }
  | { kind: 'invalid'; reason: string }
  | { kind: 'timeout' }
  | { kind: 'unreachable' };

export type Rating = 'good' | 'bad' | 'withdrawn';

/** Reasons for a rating, if the app asks for them. */
export interface RatingDetails {
  reasons?: readonly RatingReason[];
  /** Free text. */
  words?: string;
}

/** The messenger's bot. */
export interface BotEndpoint {
  readonly name: string;
  /** Its PUBLIC_URL. */
  readonly url: string;
  isReachable(): boolean;
}

/** Background work. */
export interface BackgroundWork {
  /** Aborted when the messenger stops: unfinished work is left unchanged and resumed by the next start. */
  readonly signal: AbortSignal;
  /** Logs errors of the work; a stop is not an error. @param what a sentence for the log */
  failed(error: unknown, what: string): void;
}

/** Common context of every protocol: the whole app without any platform's rules, hence one field more than other options. */
export interface MessengerContext {
  readonly directory: Directory;
  readonly store: MessageStore;
  readonly chatLog: ChatLog;
  readonly media: MediaStore;
  readonly hub: EventHub;
  readonly trace: ProtocolTrace;
  readonly bot: BotEndpoint;
  readonly background: BackgroundWork;
  readonly nowMs: NowMs;
  readonly timing: Timing;
  /** The messenger's own address. */
  url(): string;
}

/** Further dependencies of a protocol, for its own storage and for signing people in. */
export interface ProtocolOptions {
  readonly redis: RedisClient;
  readonly sessions: AppSessions;
  /** Origins of the bot and of the service. */
  readonly trustedOrigins: readonly string[];
}

/** Control over the bot's connections. */
export interface BotConnections {
  readonly size: number;
  /** Number of connections opened so far. */
  readonly openedCount: number;
  /** Closes all connections at once, like a broken network. */
  disconnectAll(): void;
  /** The platform requests replacement connections, with or without a warning before it closes them. */
  replaceAll(reason: string): void;
  /** Number of rejected attempts to prove the bot's secret, on platforms where a connection needs one. */
  readonly refusedCount?: number;
  /** The platform forgets the bot's subscription while the connection stays open, if the platform has subscriptions. */
  forgetSubscription?(): void;
  /** From now on the open connections transfer nothing, although they stay open. */
  freezeAll?(): void;
  /** A person clicks a card of the bot in their private chat. @returns the replacement from the bot, if any */
  clickCard?(personId: string, click: CardClick): Promise<DeliveryResult>;
}

/** A click on a card that the bot has sent. */
export interface CardClick {
  cardType: string;
  eventKey: string;
  taskId: string;
}

/** An edited or deleted message: its new state, and the notification of the bot, which may take minutes. */
export interface AmendedMessage {
  message: StoredMessage;
  notification: Promise<unknown>;
}

/** A simulated platform, before it is started. */
export interface ProtocolFactory {
  readonly name: 'wecom' | 'slack';
  /** 32 bytes, derived from the bot's credentials, that seal conversations: the messenger has no secret of its own. */
  readonly storeKey: Buffer;
  /** User agent of the browser in which people open links of a chat. */
  readonly userAgent: string;
  /** Whether the reference service uses the app's own web sign-in, so that no passwords are needed. */
  readonly signsInAtService: boolean;
  start(side: MessengerContext, parts: ProtocolOptions): Protocol;
}

/**
 * A running platform: delivers people's actions to the bot, shows the bot's answers, and enforces the platform's rules on
 * both. Functions with a person or message parameter throw MessengerError `not_found` or `bad_request`.
 */
export interface Protocol {
  /** Shows a person's message and delivers it in the background if the platform notifies the bot of it. */
  send(saying: UserMessage): Promise<StoredMessage>;
  /** Stores and shows a message without delivering it. */
  prepare(saying: UserMessage): Promise<StoredMessage>;
  /** Delivers a prepared message with `copies` concurrent deliveries. @returns the result of each copy */
  deliver(question: StoredMessage, copies: number): Promise<DeliveryResult[]>;
  /** Redelivers a message unchanged; nothing new is shown. */
  redeliver(messageId: string, copies: number): Promise<DeliveryResult[]>;
  /** Resends a failed message as the same delivery. */
  resend(personId: string, messageId: string): Promise<StoredMessage>;
  /** The current state of the bot's answer to a message. */
  answerTo(messageId: string): Promise<StoredMessage | undefined>;
  /** The person presses "Stop" on a growing answer, or on their own question without an answer yet. */
  stop(personId: string, messageId: string): Promise<void>;
  /** The person edits their message, or deletes it (no text), if the platform notifies the bot of that. */
  amend?(personId: string, messageId: string, text: string | undefined): Promise<AmendedMessage>;
  /**
   * The person presses a button of a message: by its id, the bot's name for it, or its label. Resolves with the message once
   * the bot has accepted the press. @throws MessengerError `not_taken`
   */
  press(personId: string, messageId: string, button: string): Promise<StoredMessage>;
  /** A person opens their private chat. */
  enterChat(personId: string): Promise<void>;
  rate(personId: string, messageId: string, rating: Rating, why?: RatingDetails): Promise<StoredMessage>;
  /** Whether the bot proves at its address that it has the platform's keys. */
  verifyBot(): Promise<boolean>;
  /** Called when the bot can be reached again. */
  onBotReconnected(): Promise<void>;
  /** The platform's own routes. */
  routes(): Router;
  /** Set if the bot is reached over connections that it opens. */
  readonly connections?: BotConnections;
  /**
   * Handles an upgrade request (to a socket), if the platform has sockets. @returns whether the request was for this
   * platform
   */
  upgrade?(request: IncomingMessage, stream: Duplex, head: Buffer): boolean;
  /** Resumes the unfinished work of an earlier run. */
  resume(): Promise<void>;
  /** Resolves once every answer that the bot has finished is shown completely; waits for unfinished ones. */
  flushAnswers(): Promise<unknown>;
  /** Resolves once all work has ended (after the signal was aborted). */
  settled(): Promise<void>;
}
