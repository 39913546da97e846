import { MIB_BYTES } from '../../base/clock.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import { loadScript } from '../../base/lua-script.ts';
import { tryOpenAs } from '../../base/try-open.ts';
import { HELD_LIFE_MS } from '../../domain/message.ts';
import { mediaBytesKey, mediaKey } from '../../domain/partition-keys.ts';
import type { PersonId } from '../../domain/ids.ts';
import type { RedisClient } from '../../base/redis.ts';
import { IMAGE_FAULTS, type ImageFault } from './image-error.ts';

/** Of one person in the chats of one partition, within that time: beyond it an image serves its own question and is forgotten. */
const MOST_BYTES_OF_A_PERSON = 32 * MIB_BYTES;
/** Of all people who are not signed in together. The count begins anew when its time is over, and what was kept before lives on as long: twice as much is there at most. */
const MOST_BYTES_OF_UNLINKED = 19 * MIB_BYTES;
const UNLINKED_BYTES_KEY = '{media}:unlinked-bytes';
const PURPOSE = 'media';
const FAULT_PREFIX = 'fault:';

const shareScript = loadScript(import.meta.url, '../scripts/share-bytes.lua', {
  keys: ['taken'],
  args: ['bytes', 'lifeMs', 'mostBytes'],
  answer: 'flag',
});
const keepScript = loadScript(import.meta.url, '../scripts/keep-media.lua', {
  keys: ['image', 'bytes'],
  args: ['sealed', 'lifeMs', 'mostBytes'],
  answer: 'flag',
});

/** An image as it was found to be: ready for the model, as a data URL, or unfit for good. */
export type KeptImage = { dataUrl: string } | { fault: ImageFault };

/** Under which name an image is kept, and at whose expense. */
export interface MediaPlace {
  partition: number;
  /** The person's pseudonym. */
  personId: PersonId;
  /** All people who are not have one share together. */
  isSignedIn: boolean;
  mediaId: string;
}

/** Prepared images, and what files say, of questions that wait, may be asked again, or are still talked about: sealed, for a short time. */
export class MediaStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /**
   * Keeps an image, or what stands against it: then nothing is downloaded and decoded a second time. What goes beyond the share of
   * the person whose it is, is not kept; nor what goes beyond the one share of all who are not signed in.
   */
  async keep(place: MediaPlace, image: KeptImage): Promise<void> {
    await this.keepText(place, 'fault' in image ? `${FAULT_PREFIX}${image.fault}` : image.dataUrl);
  }

  /** Keeps what was made of another file than an image, at the expense of the same share. */
  async keepText({ partition, personId, mediaId, isSignedIn }: MediaPlace, plain: string): Promise<void> {
    const sealed = this.#keyRing.seal(PURPOSE, mediaId, plain);
    if (!isSignedIn && !(await this.#hasRoomForUnlinked(sealed))) return;
    const owner = this.#keyRing.pseudonym('media-bytes', personId);
    const keys = { image: mediaKey(partition, mediaId), bytes: mediaBytesKey(partition, owner) };
    const args = { sealed, lifeMs: HELD_LIFE_MS, mostBytes: MOST_BYTES_OF_A_PERSON };
    await keepScript.run(this.#redis, keys, args);
  }

  /** What is counted for an image that is then not kept, or twice, makes the share smaller and never larger. */
  async #hasRoomForUnlinked(sealed: string): Promise<boolean> {
    const args = { bytes: sealed.length, lifeMs: HELD_LIFE_MS, mostBytes: MOST_BYTES_OF_UNLINKED };
    return shareScript.run(this.#redis, { taken: UNLINKED_BYTES_KEY }, args);
  }

  /** @returns the images in the same order; undefined for one that is gone, broken, or lacks its key: it is asked for anew */
  async read(partition: number, mediaIds: readonly string[]): Promise<(KeptImage | undefined)[]> {
    return this.#readAs(partition, mediaIds, keptImage);
  }

  /** As `read`, of what `keepText` keeps. */
  async readTexts(partition: number, mediaIds: readonly string[]): Promise<(string | undefined)[]> {
    return this.#readAs(partition, mediaIds, (plain) => plain);
  }

  /** About how many bytes reading each would take; 0 for one that is gone. One round trip. */
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

function keptImage(plain: string): KeptImage | undefined {
  if (plain.startsWith('data:')) return { dataUrl: plain };
  const fault = IMAGE_FAULTS.find((known) => plain === FAULT_PREFIX + known);
  return fault && { fault };
}
