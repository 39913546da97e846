import { createSecretKey, type KeyObject } from 'node:crypto';
import type { NowMs } from '../../shared/clock.ts';
import { hmacHex, sameSecret } from '../../shared/crypto/ids.ts';
import { FILE_ENDINGS, type MediaStore } from '../media-store.ts';
import { MessengerError } from '../messenger-error.ts';
import { sealMedia } from './crypto.ts';

export interface MediaDownloadsOptions {
  media: MediaStore;
  /** The bot's AES key, or the secret from which per-address keys are derived. */
  aesKey: Buffer;
  nowMs: NowMs;
  /** URL of this messenger. */
  url: () => string;
  mediaLifeMs: number;
  /** Whether each address has its own key, as over the long connection; otherwise the bot's key is used for all. */
  ownKeys: boolean;
}

/** Download address of an image or a file for the bot, and its key if the address has its own. */
export interface Download {
  url: string;
  aeskey?: string;
}

/** The bot's access to media: addresses that expire and serve encrypted bytes. */
export class MediaDownloads {
  readonly #options: MediaDownloadsOptions;
  readonly #signingKey: KeyObject;
  #given = 0;

  constructor(options: MediaDownloadsOptions) {
    this.#options = options;
    this.#signingKey = createSecretKey(options.aesKey);
  }

  /** Creates a download address for the bot, valid for five minutes. */
  downloadFor(id: string): Download {
    const { nowMs, mediaLifeMs, url, ownKeys } = this.#options;
    const expires = String(nowMs() + mediaLifeMs);
    const key = ownKeys ? this.#keyOf(id, expires).toString('base64') : undefined;
    this.#given += 1;
    return {
      url: `${url()}/media/${id}?expires=${expires}&sign=${this.#sign(id, expires)}`,
      // The key's trailing `=` is sometimes missing.
      aeskey: this.#given % 2 === 0 ? key?.replace('=', '') : key,
    };
  }

  /**
   * The encrypted bytes for a download address. @throws MessengerError `not_found` if it has expired or was altered, or the
   * media was deleted
   */
  async download(id: string, expires: string, sign: string): Promise<{ sealed: Buffer; fileName: string }> {
    const { nowMs } = this.#options;
    const isValid = sameSecret(this.#sign(id, expires), sign) && nowMs() <= Number(expires);
    if (!isValid) throw new MessengerError('not_found', 'The address has expired');
    const { bytes, fileName } = await this.#find(id);
    return { sealed: sealMedia(this.#keyOf(id, expires), bytes), fileName };
  }

  async #find(id: string): Promise<{ bytes: Buffer; fileName: string }> {
    const { media } = this.#options;
    const image = await media.readImage(id).catch(() => undefined);
    if (image) return { bytes: image.bytes, fileName: `image.${FILE_ENDINGS[image.type]}` };
    const { bytes, name } = await media.file(id);
    return { bytes, fileName: name };
  }

  #keyOf(id: string, expires: string): Buffer {
    const { aesKey, ownKeys } = this.#options;
    return ownKeys ? Buffer.from(hmacHex(this.#signingKey, `media-key|${id}|${expires}`), 'hex') : aesKey;
  }

  #sign(id: string, expires: string): string {
    return hmacHex(this.#signingKey, `media|${id}|${expires}`);
  }
}
