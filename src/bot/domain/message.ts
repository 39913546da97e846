import { MINUTE_MS } from '../../shared/clock.ts';
import type { PlatformName } from './platform-name.ts';
import type { SlashCommand } from './slash-words.ts';

/** So long a message waits for its sender's sign-in, and what came with it is kept; the invitation was its visible answer. */
export const HELD_LIFE_MS = 55 * MINUTE_MS;

/** The chat that a message was written in, and the part of it that forms a conversation. */
export interface Chat {
  kind: 'private' | 'group';
  /** The platform's id of the group; in a private chat the person's user id. */
  id: string;
  /** The platform's thread, where it has threads; a thread is always a conversation of its own. */
  threadId?: string;
}

/** Who wrote, as the platform names them. Whether the id is encrypted for us is the platform's affair (`plainUserId`). */
export interface Sender {
  userId: string;
  displayName?: string;
}

/**
 * One piece of a message, in the order in which it was said. `mediaRef` is the platform's own reference, fetched by `fetchMedia`. `what` names
 * the kind of a piece that cannot be read; the kinds with words of their own are those of `texts/unread-texts.ts`.
 */
export type MessagePart =
  | { type: 'text'; text: string }
  | { type: 'image'; mediaRef: string }
  | { type: 'file'; mediaRef: string; name?: string }
  | { type: 'unsupported'; what: string; name?: string };

/** A message from a person, read from a verified delivery. It is stored sealed; its fields may hold message text. */
export interface InboundMessage {
  /** Version of this shape; a worker that does not know it leaves the message for one that does (SECURITY.md versioned-payloads). */
  version: 1;
  platform: PlatformName;
  /** The company or workspace; a fixed word where a deployment serves one. */
  tenant: string;
  /** The bot or app within the tenant. */
  app: string;
  /** The platform's id of this message; the same for every delivery of it. */
  messageId: string;
  /** When it was said or first handed over, by the platform's clock: for the order of what was said in one chat, and nothing else. Milliseconds. */
  saidAtMs?: number;
  /**
   * The place of the message in its chat: a later message has a greater number. Absent where the platform gives no such order (WeCom:
   * its times are of seconds, its ids are random).
   */
  chatOrder?: number;
  chat: Chat;
  sender: Sender;
  parts: MessagePart[];
  /** The message that this one quotes, if any. */
  quote?: MessagePart[];
  /** References to people and channels that stand in the texts by their ids alone, as they stand there: `@U1`, `#C1`. */
  unnamed?: string[];
  /** Set when the text is one of the slash words, with the bot's mention already taken away. */
  slash?: SlashCommand;
  /** Where the platform takes the answer, opaque to all but the platform; absent where it polls us. */
  replyTarget?: string;
  /** The thread that the answer to this message begins; what is said here belongs to that conversation too. */
  opensThread?: string;
  /** The message that began the thread this one was written in, by the platform's id; its answer may be the thread's first. */
  threadBegunBy?: string;
  /** The platform's own way to answer later than live, opaque to all but the platform (WeCom: the response_url). */
  laterReplyHandle?: string;
}

/**
 * A person stops the answer that they are being given, without a word that wants an answer: by the platform's own button, or
 * by the stop word alone where the bot is not named.
 */
export interface InboundStop {
  /** The same for every delivery of it, and no message's. */
  stopId: string;
  /** Of a further tenant; the platform's own unless told. */
  tenant?: string;
  chat: Chat;
  /** Whose answer it is; nobody stops another's. */
  sender: Sender;
  /** As in a message. */
  threadBegunBy?: string;
  /** Only answers whose visible messages have these handles, or handles that go on from them behind a slash. */
  shownAt?: string[];
}

/** A person deleted a message of theirs, or changed what it says. */
export interface InboundAmendment {
  kind: 'deleted' | 'edited';
  /** As it stands from now on; a deleted one says nothing. */
  message: InboundMessage;
  /** When it was edited, by the platform's clock: the greater the later. */
  editedAt?: number;
  /** Whether the message may come later than this, so that this is to be remembered. */
  mayCome: boolean;
  /** So many images it had, or fewer, where they are others now. */
  imagesBefore: number;
}
