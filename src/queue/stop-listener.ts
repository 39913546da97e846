import { Redis } from 'ioredis';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { StopMark } from '../domain/turn.ts';
import { asConversationId, asDeliveryId, asPersonId, type ConversationId } from '../domain/ids.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

/** Hears of accepted stop words in any process, and tells the turns that run in this one. */
export class StopListener {
  readonly #listeners = new Map<ConversationId, (mark: StopMark) => void>();
  readonly #subscriber: RedisClient;

  /** @param redis a connection is duplicated from it: one that subscribes can send nothing else */
  constructor(redis: RedisClient) {
    this.#subscriber = redis instanceof Redis ? redis.duplicate() : redis.duplicate();
    this.#subscriber.on('error', () => undefined);
    this.#subscriber.on('message', (_channel: string, text: string) => {
      const [conversationId = '', seq = '', ownerId = '', deliveryId] = text.split(':');
      this.#listeners.get(asConversationId(conversationId))?.({
        seq: Number(seq),
        ownerId: asPersonId(ownerId),
        deliveryId: deliveryId === undefined ? undefined : asDeliveryId(deliveryId),
      });
    });
    void this.#subscriber.subscribe(STOP_CHANNEL).catch(() => undefined);
  }

  /** @returns a function that ends the listening */
  listen(conversation: ConversationRef, onStop: (mark: StopMark) => void): () => void {
    this.#listeners.set(conversation.id, onStop);
    return () => {
      if (this.#listeners.get(conversation.id) === onStop) this.#listeners.delete(conversation.id);
    };
  }

  close(): void {
    this.#subscriber.disconnect();
  }
}
