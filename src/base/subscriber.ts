import { Redis } from 'ioredis';
import type { RedisClient } from './redis.ts';

export interface SubscriberOptions {
  channel: string;
  /** Called with each message; must not throw. */
  onMessage(text: string): void;
  /** Called each time that the subscription stands: what was said before was not heard. */
  onReady?(): void;
}

/**
 * Hears what scripts publish, over a connection of its own, since one that subscribes can send nothing else. Subscribes anew
 * after each reconnect.
 * @param redis the connection is duplicated from it
 * @returns ends the hearing
 */
export function subscribe(redis: RedisClient, { channel, onMessage, onReady }: SubscriberOptions): () => void {
  const subscriber: RedisClient = redis instanceof Redis ? redis.duplicate() : redis.duplicate();
  subscriber.on('error', () => undefined);
  subscriber.on('message', (_channel: string, text: string) => onMessage(text));
  const begin = () => {
    subscriber.subscribe(channel).then(
      () => onReady?.(),
      () => undefined,
    );
  };
  // A connection that does not wait for Redis refuses commands before it stands.
  subscriber.on('ready', begin);
  return () => subscriber.disconnect();
}
