import { conversationKeys, messageKey, rateKey } from '../base/partition-keys.ts';
import { DAY_MS } from '../base/clock.ts';
import { hashParts } from '../base/ids.ts';
import { loadScript } from '../base/lua-script.ts';
import type { NowMs } from '../base/clock.ts';
import type { KeyRing } from '../base/key-ring.ts';
import type { RedisClient } from '../base/redis.ts';
import { deliveryIdOf, personIdOf, type ConversationRef } from '../platforms/conversation-key.ts';
import type { InboundMessage } from '../platforms/platform.ts';
import { mergeKeyOf, NEVER_MERGED, sealMessage } from './inbox-entry.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

const acceptScript = loadScript(import.meta.url, './scripts/accept.lua');

/** How long a delivery is remembered (security.md 3.5); longer than any platform goes on repeating. */
export const REMEMBER_DELIVERY_MS = DAY_MS;
/** Life of what waits in a conversation; renewed by every message. Far beyond any outage that one would answer after. */
export const INBOX_LIFE_MS = 7 * DAY_MS;
const MESSAGES_A_CHAT_MAY_SEND_A_MINUTE = 60;
const LONGEST_INBOX = 100;

export interface AcceptOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** 20 unless told (security.md 3.11). */
  messagesAPersonMaySendAMinute?: number;
  /** Messages that are never merged with others into one turn, beside slash words. */
  standsAlone?(message: InboundMessage): boolean;
}

export interface Accepted {
  deliveryId: string;
  /** `repeat`: this delivery was stored before; `limited`: refused because too many came, which the person must be told. */
  result: 'new' | 'repeat' | 'limited';
}

/** Stores accepted messages. One atomic script a message (security.md 3.5); safe to call again with the same delivery. */
export class Inbox {
  readonly #options: AcceptOptions;

  constructor(options: AcceptOptions) {
    this.#options = options;
  }

  /** @throws whatever the connection throws when Redis is away: the message is not stored then, as far as we know */
  async accept(conversation: ConversationRef, message: InboundMessage): Promise<Accepted> {
    const { redis, keyRing, nowMs, messagesAPersonMaySendAMinute = 20, standsAlone } = this.#options;
    const deliveryId = deliveryIdOf(message);
    const personId = personIdOf(message, message.sender.userId);
    const { partition } = conversation;
    const keys = conversationKeys(conversation);
    const [result, state] = (await acceptScript.run(
      redis,
      [
        messageKey(partition, deliveryId),
        keys.inbox,
        keys.state,
        keys.pending,
        rateKey(partition, `person:${personId}`),
        ...(message.chat.kind === 'group'
          ? [rateKey(partition, `chat:${hashParts('chat', message.chat.id).slice(0, 32)}`)]
          : []),
      ],
      [
        deliveryId,
        conversation.id,
        standsAlone?.(message) ? NEVER_MERGED : mergeKeyOf(message, personId),
        sealMessage(keyRing, deliveryId, message),
        nowMs(),
        REMEMBER_DELIVERY_MS,
        personId,
        message.laterReplyHandle === undefined ? '0' : '1',
        messagesAPersonMaySendAMinute,
        MESSAGES_A_CHAT_MAY_SEND_A_MINUTE,
        LONGEST_INBOX,
        message.slash?.word === 'stop' ? '1' : '0',
        INBOX_LIFE_MS,
        STOP_CHANNEL,
      ],
    )) as [Accepted['result'], string];
    return { deliveryId, result: state === 'limited' ? 'limited' : result };
  }
}
