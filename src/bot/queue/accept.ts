import { Cluster } from 'ioredis';
import { conversationKeys, messageKey, rateKey } from '../domain/partition-keys.ts';
import { DAY_MS, monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { loadScript, type LuaScript } from '../../shared/redis/lua-script.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { isTracing, traceparent } from '../../shared/tracing/tracing.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { InboundAmendment, InboundMessage, Refusal } from '../domain/message.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { amendMessage, type AmendResult } from './edit-message.ts';
import { ACCEPT_SHAPE, type AcceptArgs, type AcceptKeys } from './accept-shape.ts';
import { mergeKeyOf, NEVER_MERGED, sealMessage, sealTarget } from './inbox-entry.ts';
import { PersonRateLimiter } from './person-limit.ts';
import type { AcceptedMessage, ReplayBuffer } from './replay-buffer.ts';

/** How long a delivery is remembered (SECURITY.md accept-once). Longer than any platform retries a delivery. */
export const REMEMBER_DELIVERY_MS = DAY_MS;
/** Maximum waiting messages of a conversation; accept.lua refuses the next one as `full`. */
export const MAX_INBOX = 100;
/** Extra room in a full inbox for slash commands, which finish at once. */
const EXTRA_ROOM_FOR_COMMANDS = 20;
/** Multiple of a person's rate limit above which a stop command still acts but gets no reply. */
const STOP_LIMIT_FACTOR = 3;
/**
 * How long a replication history is used again over the same connection, because reading it takes a tenth of the script. An
 * outdated one is safe: histories never return, so the worker only looks for a post in vain.
 */
const HISTORY_KNOWN_MS = SECOND_MS;

export interface InboxOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** Maximum messages per minute of a person over all chats, and of a chat (SECURITY.md rate-limits). Default to 20 and 60. */
  limits?: { personPerMinute?: number; chatPerMinute?: number };
  /** Whether a message is never merged with others into one turn. Slash commands never are. */
  isUnmergeable?(message: InboundMessage): boolean;
  /** Receives each stored message so that it can be stored again after a failover. */
  recent?: ReplayBuffer;
  /** Defaults to the monotonic clock. */
  nowMs?: NowMs;
}

export interface AcceptResult {
  deliveryId: DeliveryId;
  /**
   * `repeat`: this delivery was stored before. `limited`: refused by a rate limit; `full`: too many messages wait in this
   * conversation. The person must be told of both. A stop command takes effect even when it is refused.
   */
  result: 'new' | 'repeat' | Refusal;
}

/**
 * Stores accepted messages, each with one atomic script (SECURITY.md accept-once). Safe to repeat with the same delivery.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #script: LuaScript<typeof ACCEPT_SHAPE>;
  readonly #people: PersonRateLimiter;
  #known: { history: string; connection?: object; untilMs: number } = { history: '', untilMs: 0 };

  constructor(options: InboxOptions) {
    this.#options = options;
    const { personPerMinute = 20, chatPerMinute = 60 } = options.limits ?? {};
    this.#people = new PersonRateLimiter(options.redis, options.keyRing, personPerMinute);
    this.#script = loadScript(import.meta.url, './scripts/accept.lua', {
      ...ACCEPT_SHAPE,
      constants: {
        REMEMBER_MS: String(REMEMBER_DELIVERY_MS),
        MAX_OF_A_PERSON: personPerMinute,
        MAX_OF_A_CHAT: chatPerMinute,
        MAX_BEFORE_A_STOP: personPerMinute * STOP_LIMIT_FACTOR,
        MAX_INBOX,
        MAX_INBOX_FOR_COMMANDS: MAX_INBOX + EXTRA_ROOM_FOR_COMMANDS,
      },
    });
  }

  /** @throws the connection's error when Redis is unavailable; the message is then assumed not to be stored */
  async accept(conversation: ConversationRef, message: InboundMessage): Promise<AcceptResult> {
    const { redis, keyRing, isUnmergeable, recent, nowMs = monotonicMs } = this.#options;
    // The masters of a cluster have different histories.
    const connection = redis instanceof Cluster ? undefined : redis.stream;
    const deliveryId = deliveryIdOf(message);
    const personId = personIdOf(message, message.sender.userId);
    const { partition } = conversation;
    const place = conversationKeys(conversation);
    const isInGroup = message.chat.kind === 'group';
    const keys: AcceptKeys = {
      record: messageKey(partition, deliveryId),
      inbox: place.inbox,
      state: place.state,
      pending: place.pending,
      personRate: this.#people.counterOf(partition, personId),
      chatRate: isInGroup ? rateKey(partition, `chat:${keyRing.pseudonym('chat-rate', message.chat.id)}`) : undefined,
    };
    const isStop = commandOf(message) === 'stop';
    const { threadBegunBy } = message;
    const args: AcceptArgs = {
      deliveryId,
      conversationId: conversation.id,
      owner: personId,
      mergeKey: isUnmergeable?.(message) ? NEVER_MERGED : mergeKeyOf(message, personId),
      sealed: sealMessage(keyRing, deliveryId, isTracing() ? { ...message, traceparent: traceparent() } : message),
      command: commandOf(message),
      isAnswerableLater: message.laterReplyHandle !== undefined,
      isOverLimit: this.#people.begin(personId),
      opener: isStop && threadBegunBy !== undefined ? deliveryIdOf({ ...message, messageId: threadBegunBy }) : '',
      target: sealTarget(keyRing, deliveryId, message),
      saidAtMs: message.saidAtMs,
      chatOrder: message.chatOrder,
      history: connection === this.#known.connection && nowMs() < this.#known.untilMs ? this.#known.history : '',
    };
    const { result, takenAtMs, history } = await this.#script.run(redis, keys, args).catch((error: unknown) => {
      this.#people.end(personId, deliveryId, 'repeat');
      throw error;
    });
    this.#people.end(personId, deliveryId, result);
    if (history !== '' && connection) this.#known = { history, connection, untilMs: nowMs() + HISTORY_KNOWN_MS };
    // A repeated delivery is kept too: the platform may retry because our acknowledgement was lost.
    if (takenAtMs > 0) recent?.keep({ deliveryId, conversation, keys, args, takenAtMs });
    return { deliveryId, result };
  }

  /** Deletes or edits an accepted message. Safe to repeat. @throws as `accept` */
  async amend(conversation: ConversationRef, amendment: InboundAmendment): Promise<AmendResult> {
    const amended = await amendMessage(this.#options, conversation, amendment);
    if (amendment.kind === 'deleted') this.#options.recent?.forgetSeen(amended.deliveryId);
    return amended;
  }

  /** The sender has seen the complete answer: the message is not stored again after a failover. */
  markAnswerSeen(deliveryId: DeliveryId): void {
    this.#options.recent?.forgetSeen(deliveryId);
  }

  /**
   * Stores a message that was acknowledged before, regardless of current limits. It is placed by its acceptance time and
   * becomes a separate turn. Posts are looked up before anything is posted, because the record of them may be lost too.
   * @throws as `accept`
   */
  async reaccept({ keys, args, takenAtMs }: AcceptedMessage): Promise<AcceptResult['result']> {
    return (await this.#script.run(this.#options.redis, keys, { ...args, takenBeforeMs: takenAtMs })).result;
  }
}

function commandOf({ slash }: InboundMessage): 'stop' | 'other' | '' {
  if (slash === undefined) return '';
  return slash.word === 'stop' ? 'stop' : 'other';
}
