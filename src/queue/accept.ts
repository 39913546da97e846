import { conversationKeys, messageKey, rateKey } from '../domain/partition-keys.ts';
import { DAY_MS } from '../base/clock.ts';
import { loadScript, type LuaScript } from '../base/lua-script.ts';
import type { KeyRing } from '../base/key-ring.ts';
import type { RedisClient } from '../base/redis.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
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
/** Of accept.lua, from 0. */
const FLAGS_ARGUMENT = 4;

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
  deliveryId: string;
  /**
   * `repeat`: this delivery was stored before; `limited`: refused because too many came, which the person must be told. A stop
   * word has stopped what it could all the same.
   */
  result: 'new' | 'repeat' | 'limited';
}

/** What accept.lua returns. */
type AcceptReply = [result: Accepted['result'], takenAtMs: number];

/** Stores accepted messages. One atomic script a message (SECURITY.md accept-once); safe to call again with the same delivery. */
export class Inbox {
  readonly #options: AcceptOptions;
  readonly #script: LuaScript;
  readonly #people: PersonLimit;

  constructor(options: AcceptOptions) {
    this.#options = options;
    const mostOfAPerson = options.messagesAPersonMaySendAMinute ?? MESSAGES_A_PERSON_MAY_SEND_A_MINUTE;
    this.#people = new PersonLimit(options.redis, options.keyRing, mostOfAPerson);
    this.#script = loadScript(import.meta.url, './scripts/accept.lua', {
      REMEMBER_MS: REMEMBER_DELIVERY_MS,
      MOST_OF_A_PERSON: mostOfAPerson,
      MOST_OF_A_CHAT: MESSAGES_A_CHAT_MAY_SEND_A_MINUTE,
      MOST_BEFORE_A_STOP: mostOfAPerson * STOPS_TIMES,
      LONGEST_INBOX,
      LONGEST_WITH_WORDS: LONGEST_INBOX + ROOM_FOR_WORDS,
      STOP_CHANNEL,
    });
  }

  /** @throws whatever the connection throws when Redis is away: the message is not stored then, as far as we know */
  async accept(conversation: ConversationRef, message: InboundMessage): Promise<Accepted> {
    const { redis, keyRing, standsAlone, recent } = this.#options;
    const deliveryId = deliveryIdOf(message);
    const personId = personIdOf(message, message.sender.userId);
    const { partition } = conversation;
    const place = conversationKeys(conversation);
    const keys = [
      messageKey(partition, deliveryId),
      place.inbox,
      place.state,
      place.pending,
      this.#people.counterOf(partition, personId),
    ];
    if (message.chat.kind === 'group')
      keys.push(rateKey(partition, `chat:${keyRing.pseudonym('chat-rate', message.chat.id)}`));
    const isStop = message.slash?.word === 'stop';
    const isOver = this.#people.begin(personId);
    const { threadBegunBy } = message;
    const args = [
      deliveryId,
      conversation.id,
      personId,
      standsAlone?.(message) ? NEVER_MERGED : mergeKeyOf(message, personId),
      (message.laterReplyHandle === undefined ? '' : 'later ') + wordFlag(message) + (isOver ? 'over' : ''),
      sealMessage(keyRing, deliveryId, message),
      isStop && threadBegunBy !== undefined ? deliveryIdOf({ ...message, messageId: threadBegunBy }) : '',
      sealTarget(keyRing, deliveryId, message),
      message.saidAtMs ?? '',
    ];
    const [result, takenAtMs] = (await this.#script.run(redis, keys, args).catch((error: unknown) => {
      this.#people.end(personId, deliveryId, 'repeat');
      throw error;
    })) as AcceptReply;
    this.#people.end(personId, deliveryId, result);
    // One that is sent again may be so since our own answer about it was lost.
    if (takenAtMs > 0) recent?.keep({ deliveryId, conversation, keys, args, takenAtMs });
    return { deliveryId, result };
  }

  /** The sender of a message has seen its answer whole: should a failover lose it, it is not stored again. */
  answerSeen(deliveryId: string): void {
    this.#options.recent?.forgetSeen(deliveryId);
  }

  /**
   * Stores a message that was acknowledged before, as of then, whatever the limits are now: in its place by the time at which it was
   * taken, and as a turn of its own. Its posts are looked up before anything is posted, since what was known of them may be lost too.
   * @throws as `accept`
   */
  async acceptAgain({ keys, args, takenAtMs }: AcceptedMessage): Promise<Accepted['result']> {
    const again = args.map((arg, index) => (index === FLAGS_ARGUMENT ? `${arg} again:${takenAtMs}` : arg));
    const [result] = (await this.#script.run(this.#options.redis, keys, again)) as AcceptReply;
    return result;
  }
}

function wordFlag({ slash }: InboundMessage): string {
  if (slash === undefined) return '';
  return slash.word === 'stop' ? 'stop ' : 'word ';
}
