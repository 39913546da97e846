import { MIB_BYTES } from '../../../../shared/clock.ts';
import type { KeyRing } from '../../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../../shared/redis/lua-script.ts';
import { tryOpenAs } from '../../../../shared/crypto/decrypt-record.ts';
import { HELD_LIFE_MS } from '../../../domain/message.ts';
import { mediaKeptKey, mediaKey, mediaShareKey, messageKey } from '../../../domain/partition-keys.ts';
import { asDeliveryId, type PersonId } from '../../../domain/ids.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { HeavyFiles } from '../heavy-files.ts';
import { IMAGE_FAULTS, type ImageFault } from './image-error.ts';

/** Limit per person in the chats of one partition; a new image evicts the person's oldest ones. */
const MAX_BYTES_OF_A_PERSON = 32 * MIB_BYTES;
/** Limit per person and partition, because keeping an image checks each of them. */
const MAX_PIECES_OF_A_PERSON = 300;
/**
 * Limit per person over all chats, so that one person cannot fill Redis through chats in many partitions. Counted like the
 * limit below.
 */
const MAX_BYTES_OVER_ALL_CHATS = 64 * MIB_BYTES;
/**
 * Shared limit of all people who are not signed in. The count restarts when it expires, while earlier media may live equally
 * long, so at most twice as much is stored.
 */
const MAX_BYTES_OF_UNLINKED = 19 * MIB_BYTES;
const UNLINKED_BYTES_KEY = '{media}:unlinked-bytes';
const PURPOSE = 'media';
const FAULT_PREFIX = 'fault:';

const shareScript = loadScript(import.meta.url, '../scripts/share-bytes.lua', {
  keys: ['taken'],
  args: ['bytes', 'lifeMs', 'maxBytes'],
  answer: 'flag',
});
const keepScript = loadScript(import.meta.url, '../scripts/keep-media.lua', {
  keys: ['image', 'kept', 'record'],
  args: ['sealed', 'lifeMs', 'maxBytes', 'maxPieces'],
  answer: 'number',
});

/** Result of preparing an image: a data URL for the model, or a permanent fault. */
export type StoredImage = { dataUrl: string } | { fault: ImageFault };

/** Result of storing an item. */
export interface StoreResult {
  isStored: boolean;
  /** Number of older items of the same person that were evicted. */
  evictedCount: number;
}

/** Name of a stored image and the person whose share it uses. */
export interface MediaPlace {
  partition: number;
  /** The person's pseudonym. */
  personId: PersonId;
  /** People who are not signed in share one limit. */
  isSignedIn: boolean;
  /** The message's delivery id, a colon and the position in the message. */
  mediaId: string;
}

/**
 * Prepared images and contents of files for questions that wait, may be repeated or are still being discussed. Encrypted and
 * stored for a short time.
 */
export class MediaStore {
  readonly heavyFiles: HeavyFiles;
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
    this.heavyFiles = new HeavyFiles(redis, keyRing);
  }

  /**
   * Stores an image or its fault, so that it is not downloaded and decoded again. If the person's share is full, their
   * oldest items are evicted. Not stored: images beyond the person's limit over all chats or the shared limit of people who
   * are not signed in, and images of a message that was deleted meanwhile.
   */
  async storeImage(place: MediaPlace, image: StoredImage): Promise<void> {
    await this.storeText(place, 'fault' in image ? `${FAULT_PREFIX}${image.fault}` : image.dataUrl);
  }

  /** Stores the contents of a file that is not an image, in the same share. */
  async storeText({ partition, personId, mediaId, isSignedIn }: MediaPlace, plain: string): Promise<StoreResult> {
    const sealed = this.#keyRing.seal(PURPOSE, mediaId, plain);
    if (!(await this.#hasRoom(sealed, isSignedIn ? personId : undefined))) return { isStored: false, evictedCount: 0 };
    const owner = this.#keyRing.pseudonym('media-kept', personId);
    const [deliveryId = ''] = mediaId.split(':');
    const keys = {
      image: mediaKey(partition, mediaId),
      kept: mediaKeptKey(partition, owner),
      record: messageKey(partition, asDeliveryId(deliveryId)),
    };
    const limits = { maxBytes: MAX_BYTES_OF_A_PERSON, maxPieces: MAX_PIECES_OF_A_PERSON };
    const went = await keepScript.run(this.#redis, keys, { sealed, lifeMs: HELD_LIFE_MS, ...limits });
    return { isStored: went >= 0, evictedCount: Math.max(went, 0) };
  }

  /** Counting an image that is not stored after all, or counting it twice, makes the share smaller, never larger. */
  async #hasRoom(sealed: string, personId: PersonId | undefined): Promise<boolean> {
    const taken = personId ? mediaShareKey(this.#keyRing.pseudonym('media-share', personId)) : UNLINKED_BYTES_KEY;
    const maxBytes = personId ? MAX_BYTES_OVER_ALL_CHATS : MAX_BYTES_OF_UNLINKED;
    return shareScript.run(this.#redis, { taken }, { bytes: sealed.length, lifeMs: HELD_LIFE_MS, maxBytes });
  }

  /**
   * @returns the images in the same order; undefined for an image that is expired, broken or has no available key, which
   * must be fetched again
   */
  async read(partition: number, mediaIds: readonly string[]): Promise<(StoredImage | undefined)[]> {
    return this.#readAs(partition, mediaIds, keptImage);
  }

  /** Like `read`, for contents stored by `storeText`. */
  async readTexts(partition: number, mediaIds: readonly string[]): Promise<(string | undefined)[]> {
    return this.#readAs(partition, mediaIds, (plain) => plain);
  }

  /** Approximate size in bytes of each item; 0 if it is expired. One round trip. */
  async sizesBytes(partition: number, mediaIds: readonly string[]): Promise<number[]> {
    return Promise.all(mediaIds.map((mediaId) => this.#redis.strlen(mediaKey(partition, mediaId))));
  }

  async #readAs<Kept>(
    partition: number,
    mediaIds: readonly string[],
    made: (plain: string) => Kept | undefined,
  ): Promise<(Kept | undefined)[]> {
    if (mediaIds.length === 0) return [];
    const sealed = await this.#redis.mget(mediaIds.map((mediaId) => mediaKey(partition, mediaId)));
    return mediaIds.map((mediaId, index) => {
      const record = sealed[index];
      if (typeof record !== 'string') return undefined;
      const opened = tryOpenAs(() => this.#keyRing.open(PURPOSE, mediaId, record), made);
      return opened.kind === 'opened' ? opened.value : undefined;
    });
  }
}

function keptImage(plain: string): StoredImage | undefined {
  if (plain.startsWith('data:')) return { dataUrl: plain };
  const fault = IMAGE_FAULTS.find((known) => plain === FAULT_PREFIX + known);
  return fault && { fault };
}
