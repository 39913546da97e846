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

/** Of one person in the chats of one partition: what is new is kept, and their oldest goes for it. */
const MOST_BYTES_OF_A_PERSON = 32 * MIB_BYTES;
/** Of one person likewise, since each of them is looked at when one is kept. */
const MOST_PIECES_OF_A_PERSON = 300;
/** Of one person in all chats together, so that nobody fills Redis by chats in many partitions. Counted as below. */
const MOST_BYTES_OVER_ALL_CHATS = 64 * MIB_BYTES;
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
  keys: ['image', 'kept', 'record'],
  args: ['sealed', 'lifeMs', 'mostBytes', 'mostPieces'],
  answer: 'number',
});

/** An image as it was found to be: ready for the model, as a data URL, or unfit for good. */
export type KeptImage = { dataUrl: string } | { fault: ImageFault };

/** What came of keeping something. */
export interface Kept {
  isKept: boolean;
  /** So many older ones of the same person went for it. */
  wentCount: number;
}

/** Under which name an image is kept, and at whose expense. */
export interface MediaPlace {
  partition: number;
  /** The person's pseudonym. */
  personId: PersonId;
  /** All people who are not have one share together. */
  isSignedIn: boolean;
  /** The message's delivery id and, behind a colon, its place in it. */
  mediaId: string;
}

/** Prepared images, and what files say, of questions that wait, may be asked again, or are still talked about: sealed, for a short time. */
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
   * Keeps an image, or what stands against it: then nothing is downloaded and decoded a second time. Where the share of the person
   * whose it is does not hold it, their oldest go for it; what goes beyond that person's share of all chats, or the one share of all
   * who are not signed in, is not kept, nor what came with a message that was deleted meanwhile.
   */
  async keep(place: MediaPlace, image: KeptImage): Promise<void> {
    await this.keepText(place, 'fault' in image ? `${FAULT_PREFIX}${image.fault}` : image.dataUrl);
  }

  /** Keeps what was made of another file than an image, at the expense of the same share. */
  async keepText({ partition, personId, mediaId, isSignedIn }: MediaPlace, plain: string): Promise<Kept> {
    const sealed = this.#keyRing.seal(PURPOSE, mediaId, plain);
    if (!(await this.#hasRoom(sealed, isSignedIn ? personId : undefined))) return { isKept: false, wentCount: 0 };
    const owner = this.#keyRing.pseudonym('media-kept', personId);
    const [deliveryId = ''] = mediaId.split(':');
    const keys = {
      image: mediaKey(partition, mediaId),
      kept: mediaKeptKey(partition, owner),
      record: messageKey(partition, asDeliveryId(deliveryId)),
    };
    const limits = { mostBytes: MOST_BYTES_OF_A_PERSON, mostPieces: MOST_PIECES_OF_A_PERSON };
    const went = await keepScript.run(this.#redis, keys, { sealed, lifeMs: HELD_LIFE_MS, ...limits });
    return { isKept: went >= 0, wentCount: Math.max(went, 0) };
  }

  /** What is counted for an image that is then not kept, or twice, makes the share smaller and never larger. */
  async #hasRoom(sealed: string, personId: PersonId | undefined): Promise<boolean> {
    const taken = personId ? mediaShareKey(this.#keyRing.pseudonym('media-share', personId)) : UNLINKED_BYTES_KEY;
    const mostBytes = personId ? MOST_BYTES_OVER_ALL_CHATS : MOST_BYTES_OF_UNLINKED;
    return shareScript.run(this.#redis, { taken }, { bytes: sealed.length, lifeMs: HELD_LIFE_MS, mostBytes });
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
