import { MINUTE_MS } from '../base/clock.ts';
import { SealError, type KeyRing } from '../base/key-ring.ts';
import { mediaKey } from '../base/partition-keys.ts';
import type { RedisClient } from '../base/redis.ts';

/** As long as a message can wait for its sender's sign-in. A platform's own addresses live for minutes only. */
const MEDIA_LIFE_MS = 55 * MINUTE_MS;
const PURPOSE = 'media';

/** Images of messages that are not answered yet, or may be asked again: data URLs, sealed, for a short time. */
export class MediaStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  async keep(partition: number, mediaId: string, dataUrl: string): Promise<void> {
    const sealed = this.#keyRing.seal(PURPOSE, mediaId, dataUrl);
    await this.#redis.set(mediaKey(partition, mediaId), sealed, 'PX', MEDIA_LIFE_MS);
  }

  /** @returns the data URL, or undefined when it is gone or its key is lost */
  async read(partition: number, mediaId: string): Promise<string | undefined> {
    const sealed = await this.#redis.get(mediaKey(partition, mediaId));
    if (sealed === null) return undefined;
    try {
      return this.#keyRing.open(PURPOSE, mediaId, sealed);
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}
