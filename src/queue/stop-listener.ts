import { Redis } from 'ioredis';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

/** A stop word that was accepted: its place in the conversation and who said it (a person id). */
export interface StopMark {
  seq: number;
  ownerId: string;
}

/** Hears of accepted stop words in any process, and tells the turns that run in this one. */
export class StopListener {
  readonly #listeners = new Map<string, (mark: StopMark) => void>();
  readonly #subscriber: RedisClient;

  /** @param redis a connection is duplicated from it: one that subscribes can send nothing else */
  constructor(redis: RedisClient) {
    this.#subscriber = redis instanceof Redis ? redis.duplicate() : redis.duplicate();
    this.#subscriber.on('error', () => undefined);
    this.#subscriber.on('message', (_channel: string, text: string) => {
      const [conversationId = '', seq = '', ownerId = ''] = text.split(':');
      this.#listeners.get(conversationId)?.({ seq: Number(seq), ownerId });
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
