import { DAY_MS, MIB_BYTES, SECOND_MS } from '../base/clock.ts';
import { hmacHex, randomToken, sameSecret } from '../base/ids.ts';
import type { NowMs } from '../base/clock.ts';
import type { RedisClient } from '../base/redis.ts';
import { MessengerError } from './messenger-error.ts';
import { openMedia, sealMedia } from './wecom/crypto.ts';

/** The platform's largest image. */
export const MAX_IMAGE_BYTES = 10 * MIB_BYTES;
const KEEP_SEC = (30 * DAY_MS) / SECOND_MS;

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

const FILE_ENDINGS: Readonly<Record<ImageType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

export interface MediaStoreOptions {
  redis: RedisClient;
  /** The bot's AES key: files are kept as their downloads serve them. */
  aesKey: Buffer;
  nowMs: NowMs;
  /** Where this messenger can be reached. */
  url: () => string;
  mediaLifeMs: number;
}

/** Images of messages. The bot gets an address that expires and serves encrypted bytes; the page gets the plain image. */
export class MediaStore {
  readonly #options: MediaStoreOptions;

  constructor(options: MediaStoreOptions) {
    this.#options = options;
  }

  /** Keeps an image for 30 days. @throws MessengerError `image_too_large`, `image_unknown_type` */
  async keep(bytes: Buffer): Promise<{ id: string; url: string }> {
    if (bytes.length > MAX_IMAGE_BYTES) throw new MessengerError('image_too_large', 'The image is larger than 10 MB');
    if (!sniffImageType(bytes))
      throw new MessengerError('image_unknown_type', 'The file is not a PNG, JPEG, GIF or WebP image');
    const id = randomToken(16);
    await this.#options.redis.set(keyOf(id), sealMedia(this.#options.aesKey, bytes), 'EX', KEEP_SEC);
    return { id, url: imageUrl(id) };
  }

  /** An image as the page shows it. @throws MessengerError `not_found` */
  async plain(id: string): Promise<{ bytes: Buffer; type: ImageType }> {
    const bytes = openMedia(this.#options.aesKey, await this.#sealed(id));
    const type = sniffImageType(bytes);
    if (!type) throw new MessengerError('not_found', 'No such image');
    return { bytes, type };
  }

  /** A download address for the bot, valid for five minutes. */
  downloadUrl(id: string): string {
    const expires = String(this.#options.nowMs() + this.#options.mediaLifeMs);
    return `${this.#options.url()}/media/${id}?expires=${expires}&sign=${this.#sign(id, expires)}`;
  }

  /** The encrypted bytes behind a download address. @throws MessengerError `not_found` when expired, altered or gone */
  async download(id: string, expires: string, sign: string): Promise<{ sealed: Buffer; fileName: string }> {
    const isValid = sameSecret(this.#sign(id, expires), sign) && this.#options.nowMs() <= Number(expires);
    if (!isValid) throw new MessengerError('not_found', 'The address has expired');
    const { type } = await this.plain(id);
    return { sealed: await this.#sealed(id), fileName: `image.${FILE_ENDINGS[type]}` };
  }

  async #sealed(id: string): Promise<Buffer> {
    const sealed = await this.#options.redis.getBuffer(keyOf(id));
    if (!sealed) throw new MessengerError('not_found', 'No such image');
    return sealed;
  }

  #sign(id: string, expires: string): string {
    return hmacHex(this.#options.aesKey, `media|${id}|${expires}`);
  }
}

/** Where the page finds an image. */
export function imageUrl(id: string): string {
  return `/api/images/${id}`;
}

/** The type of an image by its first bytes, whatever it was called. */
export function sniffImageType(bytes: Buffer): ImageType | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'image/webp';
  return undefined;
}

const keyOf = (id: string) => `messenger:media:${id}`;
