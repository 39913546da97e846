import type { RedisClient } from '../../shared/redis/redis.ts';
import { subscribe } from '../../shared/redis/subscriber.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { ConversationId } from '../domain/ids.ts';
import { readTurnNews, STOP_CHANNEL, type TurnNews } from '../domain/turn-news.ts';

/** Receives stops and amended questions from all processes and passes them to the turns that run in this one. */
export class StopListener {
  readonly #listeners = new Map<ConversationId, (news: TurnNews) => void>();
  readonly #endHearing: () => void;

  constructor(redis: RedisClient) {
    this.#endHearing = subscribe(redis, { channel: STOP_CHANNEL, onMessage: (text) => this.#hear(text) });
  }

  /** @returns a function that stops listening */
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
    const { conversationId, news } = readTurnNews(text);
    this.#listeners.get(conversationId)?.(news);
  }
}
