import { DAY_MS, SECOND_MS } from '../shared/clock.ts';
import { randomToken } from '../shared/crypto/ids.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import { tryOpen } from '../shared/crypto/decrypt-record.ts';
import { MAX_FILE_BYTES, MAX_IMAGE_BYTES, type FileChip } from './api.ts';
import { MessengerError } from './messenger-error.ts';

const RETENTION_SEC = (30 * DAY_MS) / SECOND_MS;
const PURPOSE = 'messenger-media';
const CONTENT_PURPOSE = 'messenger-file-content';

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** File extensions of these types. */
export const FILE_ENDINGS: Readonly<Record<ImageType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/**
 * Images and files of messages, sealed. The page receives them in plain form; the platform decides how the bot receives
 * them.
 */
export class MediaStore {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** Stores an image for 30 days. @throws MessengerError `image_too_large`, `image_unknown_type` */
  async saveImage(bytes: Buffer): Promise<{ id: string; url: string }> {
    if (bytes.length > MAX_IMAGE_BYTES) throw new MessengerError('image_too_large', 'The image is larger than 10 MB');
    if (!sniffImageType(bytes))
      throw new MessengerError('image_unknown_type', 'The file is not a PNG, JPEG, GIF or WebP image');
    const id = randomToken(16);
    const sealed = this.#keyRing.seal(PURPOSE, id, bytes.toString('base64'));
    await this.#redis.set(keyOf(id), sealed, 'EX', RETENTION_SEC);
    return { id, url: imageUrl(id) };
  }

  /** Stores any other file for 30 days, with its name. @throws MessengerError `file_too_large` */
  async saveFile(name: string, bytes: Buffer): Promise<{ id: string; file: FileChip }> {
    if (bytes.length > MAX_FILE_BYTES) throw new MessengerError('file_too_large', 'The file is larger than 25 MB');
    const id = randomToken(16);
    const file: FileChip = { name, sizeBytes: bytes.length };
    const sealed = this.#keyRing.seal(PURPOSE, id, JSON.stringify(file));
    const content = this.#keyRing.seal(CONTENT_PURPOSE, id, bytes.toString('latin1'));
    await this.#redis
      .multi()
      .set(fileKeyOf(id), sealed, 'EX', RETENTION_SEC)
      .set(contentKeyOf(id), content, 'EX', RETENTION_SEC)
      .exec();
    return { id, file };
  }

  /** A file other than an image. @throws MessengerError `not_found` */
  async file(id: string): Promise<{ name: string; bytes: Buffer }> {
    const { name } = await this.describeFile(id);
    return { name, bytes: Buffer.from(await this.#opened(CONTENT_PURPOSE, id, contentKeyOf(id)), 'latin1') };
  }

  /** A view of a file for a message, without reading its content. @throws MessengerError `not_found` */
  async describeFile(id: string): Promise<FileChip> {
    return JSON.parse(await this.#opened(PURPOSE, id, fileKeyOf(id))) as FileChip;
  }

  /** Views of files for a message. @throws MessengerError `not_found` */
  async describeFiles(ids: readonly string[]): Promise<FileChip[]> {
    return Promise.all(ids.map((id) => this.describeFile(id)));
  }

  async #opened(purpose: string, id: string, key: string): Promise<string> {
    const sealed = await this.#redis.get(key);
    const opened = sealed === null ? undefined : tryOpen(() => this.#keyRing.open(purpose, id, sealed));
    if (opened?.kind !== 'opened') throw new MessengerError('not_found', 'No such file');
    return opened.value;
  }

  /** An image for the page. @throws MessengerError `not_found` */
  async readImage(id: string): Promise<{ bytes: Buffer; type: ImageType }> {
    const sealed = await this.#redis.get(keyOf(id));
    const bytes = sealed === null ? undefined : this.#open(id, sealed);
    const type = bytes && sniffImageType(bytes);
    if (!type) throw new MessengerError('not_found', 'No such image');
    return { bytes, type };
  }

  #open(id: string, sealed: string): Buffer | undefined {
    const opened = tryOpen(() => this.#keyRing.open(PURPOSE, id, sealed));
    // An image sealed with an earlier bot's key, or a broken one, counts as missing.
    return opened.kind === 'opened' ? Buffer.from(opened.value, 'base64') : undefined;
  }
}

/** Address of an image for the page. */
export function imageUrl(id: string): string {
  return `/api/images/${id}`;
}

/** Type of an image by its first bytes, regardless of its name. */
export function sniffImageType(bytes: Buffer): ImageType | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(head)) return 'image/webp';
  return undefined;
}

const keyOf = (id: string) => `messenger:media:${id}`;
const fileKeyOf = (id: string) => `messenger:file-about:${id}`;
const contentKeyOf = (id: string) => `messenger:file-content:${id}`;
