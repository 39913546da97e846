import type { NowMs } from '../../base/clock.ts';
import { hmacHex, sameSecret } from '../../base/ids.ts';
import { FILE_ENDINGS, type MediaStore } from '../media-store.ts';
import { MessengerError } from '../messenger-error.ts';
import { sealMedia } from './crypto.ts';

export interface MediaDownloadsOptions {
  media: MediaStore;
  /** The bot's AES key. */
  aesKey: Buffer;
  nowMs: NowMs;
  /** Where this messenger can be reached. */
  url: () => string;
  mediaLifeMs: number;
}

/** The bot's way to images: addresses that expire and serve encrypted bytes. */
export class MediaDownloads {
  readonly #options: MediaDownloadsOptions;

  constructor(options: MediaDownloadsOptions) {
    this.#options = options;
  }

  /** A download address for the bot, valid for five minutes. */
  downloadUrl(id: string): string {
    const expires = String(this.#options.nowMs() + this.#options.mediaLifeMs);
    return `${this.#options.url()}/media/${id}?expires=${expires}&sign=${this.#sign(id, expires)}`;
  }

  /** The encrypted bytes behind a download address. @throws MessengerError `not_found` when expired, altered or gone */
  async download(id: string, expires: string, sign: string): Promise<{ sealed: Buffer; fileName: string }> {
    const { media, aesKey, nowMs } = this.#options;
    const isValid = sameSecret(this.#sign(id, expires), sign) && nowMs() <= Number(expires);
    if (!isValid) throw new MessengerError('not_found', 'The address has expired');
    const { bytes, type } = await media.plain(id);
    return { sealed: sealMedia(aesKey, bytes), fileName: `image.${FILE_ENDINGS[type]}` };
  }

  #sign(id: string, expires: string): string {
    return hmacHex(this.#options.aesKey, `media|${id}|${expires}`);
  }
}
