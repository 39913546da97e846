import { conversationKeys, messageKey, rateKey } from '../domain/partition-keys.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { loadScript, type LuaScript } from '../../shared/redis/lua-script.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { InboundAmendment, InboundMessage } from '../domain/message.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { amendMessage, type Amended } from './edit-message.ts';
import { ACCEPT_SHAPE, type AcceptArgs, type AcceptKeys } from './accept-shape.ts';
import { mergeKeyOf, NEVER_MERGED, sealMessage, sealTarget } from './inbox-entry.ts';
import { PersonLimit } from './person-limit.ts';
import type { AcceptedMessage, ReplayBuffer } from './replay-buffer.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

/** How long a delivery is remembered (SECURITY.md accept-once); longer than any platform goes on repeating. */
export const REMEMBER_DELIVERY_MS = DAY_MS;
const MESSAGES_A_PERSON_MAY_SEND_A_MINUTE = 20;
const MESSAGES_A_CHAT_MAY_SEND_A_MINUTE = 60;
const LONGEST_INBOX = 100;
/** Room for slash words in a conversation in which that many wait: each is over at once. */
const ROOM_FOR_WORDS = 20;
/** So many times the messages of a minute until a stop word, which always acts, is not answered itself any more. */
const STOPS_TIMES = 3;

export interface AcceptOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** Over all chats; 20 unless told (SECURITY.md rate-limits). */
  messagesAPersonMaySendAMinute?: number;
  /** Messages that are never merged with others into one turn, beside slash words. */
  standsAlone?(message: InboundMessage): boolean;
  /** Gets what was stored, so that it can be stored again after a failover. */
  recent?: ReplayBuffer;
}

export interface Accepted {
  deliveryId: DeliveryId;
  /**
   * `repeat`: this delivery was stored before; `limited`: refused because too many came, which the person must be told. A stop
   * word has stopped what it could all the same.
   */
  result: 'new' | 'repeat' | 'limited';
}

/** Stores accepted messages. One atomic script a message (SECURITY.md accept-once); safe to call again with the same delivery. */
export class Inbox {
  readonly #options: AcceptOptions;
  readonly #script: LuaScript<typeof ACCEPT_SHAPE>;
  readonly #people: PersonLimit;

  constructor(options: AcceptOptions) {
    this.#options = options;
    const mostOfAPerson = options.messagesAPersonMaySendAMinute ?? MESSAGES_A_PERSON_MAY_SEND_A_MINUTE;
    this.#people = new PersonLimit(options.redis, options.keyRing, mostOfAPerson);
    this.#script = loadScript(import.meta.url, './scripts/accept.lua', {
      ...ACCEPT_SHAPE,
      constants: {
        REMEMBER_MS: REMEMBER_DELIVERY_MS,
        MOST_OF_A_PERSON: mostOfAPerson,
        MOST_OF_A_CHAT: MESSAGES_A_CHAT_MAY_SEND_A_MINUTE,
        MOST_BEFORE_A_STOP: mostOfAPerson * STOPS_TIMES,
        LONGEST_INBOX,
        LONGEST_WITH_WORDS: LONGEST_INBOX + ROOM_FOR_WORDS,
        STOP_CHANNEL,
      },
    });
  }

  /** @throws whatever the connection throws when Redis is away: the message is not stored then, as far as we know */
  async accept(conversation: ConversationRef, message: InboundMessage): Promise<Accepted> {
    const { redis, keyRing, standsAlone, recent } = this.#options;
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
    const isStop = message.slash?.word === 'stop';
    const isOver = this.#people.begin(personId);
    const { threadBegunBy } = message;
    const args: AcceptArgs = {
      deliveryId,
      conversationId: conversation.id,
      owner: personId,
      mergeKey: standsAlone?.(message) ? NEVER_MERGED : mergeKeyOf(message, personId),
      words: (message.laterReplyHandle === undefined ? '' : 'later ') + wordFlag(message) + (isOver ? 'over' : ''),
      sealed: sealMessage(keyRing, deliveryId, message),
      opener: isStop && threadBegunBy !== undefined ? deliveryIdOf({ ...message, messageId: threadBegunBy }) : '',
      target: sealTarget(keyRing, deliveryId, message),
      saidAtMs: message.saidAtMs,
      chatOrder: message.chatOrder,
    };
    const { result, takenAtMs } = await this.#script.run(redis, keys, args).catch((error: unknown) => {
      this.#people.end(personId, deliveryId, 'repeat');
      throw error;
    });
    this.#people.end(personId, deliveryId, result);
    // One that is sent again may be so since our own answer about it was lost.
    if (takenAtMs > 0) recent?.keep({ deliveryId, conversation, keys, args, takenAtMs });
    return { deliveryId, result };
  }

  /** Takes back or changes an accepted message; safe to repeat. @throws as `accept` */
  async amend(conversation: ConversationRef, amendment: InboundAmendment): Promise<Amended> {
    const amended = await amendMessage(this.#options, conversation, amendment);
    if (amendment.kind === 'deleted') this.#options.recent?.forgetSeen(amended.deliveryId);
    return amended;
  }

  /** The sender of a message has seen its answer whole: should a failover lose it, it is not stored again. */
  answerSeen(deliveryId: DeliveryId): void {
    this.#options.recent?.forgetSeen(deliveryId);
  }

  /**
   * Stores a message that was acknowledged before, as of then, whatever the limits are now: in its place by the time at which it was
   * taken, and as a turn of its own. Its posts are looked up before anything is posted, since what was known of them may be lost too.
   * @throws as `accept`
   */
  async acceptAgain({ keys, args, takenAtMs }: AcceptedMessage): Promise<Accepted['result']> {
    const again = { ...args, words: `${String(args.words)} again:${takenAtMs}` };
    return (await this.#script.run(this.#options.redis, keys, again)).result;
  }
}

function wordFlag({ slash }: InboundMessage): string {
  if (slash === undefined) return '';
  return slash.word === 'stop' ? 'stop ' : 'word ';
}
