import type { RedisClient } from '../../shared/redis/redis.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { StopMark } from '../domain/turn.ts';
import { asConversationId, asDeliveryId, asPersonId, type ConversationId } from '../domain/ids.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

/** What a turn hears of: a stop, or that what it asks has changed. */
export type TurnNews = StopMark | 'amended';

/** Hears of stops and of amended questions in any process, and tells the turns that run in this one. */
export class StopListener {
  readonly #listeners = new Map<ConversationId, (news: TurnNews) => void>();
  readonly #endHearing: () => void;

  constructor(redis: RedisClient) {
    this.#endHearing = subscribe(redis, { channel: STOP_CHANNEL, onMessage: (text) => this.#hear(text) });
  }

  /** @returns a function that ends the listening */
  listen(conversation: ConversationRef, onNews: (news: TurnNews) => void): () => void {
    this.#listeners.set(conversation.id, onNews);
    return () => {
      if (this.#listeners.get(conversation.id) === onNews) this.#listeners.delete(conversation.id);
    };
  }

  close(): void {
    this.#endHearing();
  }

  #hear(text: string): void {
    const [conversationId = '', seq = '', ownerId = '', deliveryId] = text.split(':');
    const only = deliveryId === undefined ? undefined : asDeliveryId(deliveryId);
    const mark = { seq: Number(seq), ownerId: asPersonId(ownerId), deliveryId: only };
    this.#listeners.get(asConversationId(conversationId))?.(seq === 'amended' ? seq : mark);
  }
}
