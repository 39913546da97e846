import { MINUTE_MS } from '../../shared/clock.ts';
import type { PlatformName } from './platform-name.ts';
import type { SlashCommand } from './slash-words.ts';

/** How long a message and its attachments wait for the sender's sign-in. The invitation is the visible answer meanwhile. */
export const HELD_LIFE_MS = 55 * MINUTE_MS;

/** The chat that a message was written in, and its thread. */
export interface Chat {
  kind: 'private' | 'group';
  /** The platform's id of the group, or the person's user id in a private chat. */
  id: string;
  /** Set on platforms with threads. A thread is always a separate conversation. */
  threadId?: string;
}

/** The sender as the platform names them. The platform may encrypt the id (`plainUserId`). */
export interface Sender {
  userId: string;
  displayName?: string;
}

/**
 * One part of a message, in the original order. `mediaRef` is the platform's reference for `fetchMedia`. `what` names the
 * kind of a part that cannot be read; `i18n/unread-texts.ts` has a text for each known kind.
 */
export type MessagePart =
  | { type: 'text'; text: string }
  | { type: 'image'; mediaRef: string; name?: string }
  | { type: 'file'; mediaRef: string; name?: string }
  | { type: 'unsupported'; what: string; name?: string };

/**
 * A person's message, read from a verified delivery. It is stored encrypted, because its fields may contain message text.
 */
export interface InboundMessage {
  /**
   * Version of this shape. A worker that does not know it leaves the message to a newer one (SECURITY.md
   * versioned-payloads).
   */
  version: 1;
  platform: PlatformName;
  /** The company or workspace; a fixed word if a deployment serves only one. */
  tenant: string;
  /** The bot or app within the tenant. */
  app: string;
  /** The platform's id of this message, the same for every delivery of it. */
  messageId: string;
  /**
   * When it was sent or first delivered, by the platform's clock. Used only for the order of messages in one chat.
   * Milliseconds.
   */
  saidAtMs?: number;
  /**
   * Position of the message in its chat; later messages have greater numbers. Undefined if the platform gives no such order
   * (WeCom: its times are in seconds, its ids are random).
   */
  chatOrder?: number;
  chat: Chat;
  sender: Sender;
  parts: MessagePart[];
  quote?: MessagePart[];
  /** Bare ids of people and channels in the texts, as written there: `@U1`, `#C1`. */
  unnamed?: string[];
  /** Set if the text is a slash command. The bot's mention is already removed. */
  slash?: SlashCommand;
  /** Where to post the answer, opaque to all but the platform. Undefined if the platform polls. */
  replyTarget?: string;
  /** The thread that the answer to this message begins. This message belongs to that conversation too. */
  opensThread?: string;
  /** The platform's id of the message that began this message's thread. Its answer may be the first in the thread. */
  threadBegunBy?: string;
  /** The platform's way to answer after the live reply, opaque to all but the platform (WeCom: the response_url). */
  laterReplyHandle?: string;
  /** W3C `traceparent` of its acceptance, if tracing is on: its turn, whichever worker runs it, continues that trace. */
  traceparent?: string;
}

/**
 * A person stops their running answer without a message that needs a reply: with the platform's button, or with the stop
 * command alone where the bot is not named.
 */
export interface InboundStop {
  /** The same for every delivery of the stop, and never the id of a message. */
  stopId: string;
  /** Set for a further tenant. Defaults to the platform's own tenant. */
  tenant?: string;
  chat: Chat;
  /** The person whose answer is stopped. Only their own answers can be. */
  sender: Sender;
  /** As in `InboundMessage`. A stop ends no message that was sent after it. */
  chatOrder?: number;
  threadBegunBy?: string;
  /** If set, stops only answers with posts under these handles, or under handles that extend them after a slash. */
  shownAt?: string[];
}

/** A person deleted or edited one of their messages. */
export interface InboundAmendment {
  kind: 'deleted' | 'edited';
  /** The message in its new form; without content if deleted. */
  message: InboundMessage;
  /** Time of the edit by the platform's clock; greater is later. */
  editedAt?: number;
  /** Whether the message may arrive after this, so that the amendment must be remembered. */
  mayArriveLater: boolean;
  /** Maximum images that the message had before, if its files have changed; else 0. */
  imagesBefore: number;
}

/** Why a message was refused: a rate limit, or too many messages wait in its conversation. */
export type Refusal = 'limited' | 'full';
