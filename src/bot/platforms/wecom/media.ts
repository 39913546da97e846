import { SECOND_MS } from '../../../shared/clock.ts';
import { requestBounded } from '../bounded-request.ts';
import type { FetchedMedia } from '../platform.ts';
import { parseDispositionFileName } from '../file-name.ts';
import { downloadError, PlatformError } from '../platform-error.ts';
import { aesKeyOf, decryptPadded, type AesKey } from './crypto.ts';

/** Maximum bytes that the padding adds to an encrypted file. */
const PADDING_ROOM_BYTES = 32;
const DOWNLOAD_TIMEOUT_MS = 20 * SECOND_MS;
const KEY_MARK = '#aeskey=';
const NO_KEY = Buffer.alloc(0);
const KEY_BYTES = 32;
const HEX_KEY = /^[0-9a-f]{64}$/i;

/**
 * Host of files sent to a bot. WeCom does not document hosts for media. The observed callbacks use buckets of this one
 * account in Tencent's cloud, so buckets of other accounts there are not trusted.
 */
const MEDIA_HOST = /^ww-aibot-[a-z]+-1258476243\.cos\.[a-z0-9-]+\.myqcloud\.com$/;
const WEIXIN_HOST = /(?:^|\.)weixin\.qq\.com$/;
const PUBLIC_API_ORIGIN = 'https://qyapi.weixin.qq.com';

/**
 * Whether a file may be downloaded from an address: the configured platform's origin or WeCom's own hosts
 * (SECURITY.md pinned-media).
 */
export function isMediaAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  // Files of a connection are on the same host, and are fetched by HTTP.
  if (origin === new URL(apiUrl.replace(/^ws/, 'http')).origin) return true;
  return protocol === 'https:' && port === '' && (MEDIA_HOST.test(hostname) || WEIXIN_HOST.test(hostname));
}

/** Whether a later answer may be posted to an address: the configured platform's origin, or WeCom's public one. */
export function isReplyAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  return [new URL(apiUrl).origin, PUBLIC_API_ORIGIN].includes(new URL(address).origin);
}

/** Reference of a file: its address and its own key, if it has one. The key is in the fragment, which is never sent. */
export function mediaRefOf({ url, aeskey }: { url: string; aeskey?: string }): string {
  return aeskey === undefined ? url : `${url}${KEY_MARK}${Buffer.from(aeskey).toString('base64url')}`;
}

function keyIn(mediaRef: string): { address: string; ownKey: AesKey | undefined } {
  const at = mediaRef.lastIndexOf(KEY_MARK);
  if (at === -1) return { address: mediaRef, ownKey: undefined };
  const written = Buffer.from(mediaRef.slice(at + KEY_MARK.length), 'base64url').toString();
  const bytes = readMediaKey(written);
  return { address: mediaRef.slice(0, at), ownKey: bytes && aesKeyOf(bytes) };
}

/**
 * Reads a file's own key in any form that WeCom's interfaces use: 64 hexadecimal digits, base64 or base64url with or without
 * padding (also of the hexadecimal digits), or 32 raw bytes. Undefined for any other text.
 */
export function readMediaKey(written: string): Buffer | undefined {
  if (Buffer.byteLength(written) === KEY_BYTES) return Buffer.from(written);
  if (written.length === KEY_BYTES && !/[^\0-\xff]/.test(written)) return Buffer.from(written, 'latin1');
  const text = written.trim();
  if (HEX_KEY.test(text)) return Buffer.from(text, 'hex');
  // Node accepts both alphabets, with and without padding.
  const bytes = /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : NO_KEY;
  if (bytes.length === KEY_BYTES) return bytes;
  return HEX_KEY.test(bytes.toString('latin1')) ? Buffer.from(bytes.toString('latin1'), 'hex') : undefined;
}

interface MediaRequest {
  mediaRef: string;
  /** Addresses from the settings whose files are accepted in addition to WeCom's own. */
  ownUrls: readonly string[];
  /** The bot's key, for files without their own key; absent where every file has one. */
  aesKey: AesKey | undefined;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Downloads and decrypts a file that a person sent. Addresses are valid for five minutes.
 * @throws PlatformError `media_refused`, `media_gone`, `media_too_large`, `media_unreadable`, `unreachable`
 */
export async function fetchMedia({ mediaRef, ownUrls, aesKey, maxBytes, signal }: MediaRequest): Promise<FetchedMedia> {
  const { address, ownKey } = keyIn(mediaRef);
  if (!ownUrls.some((own) => isMediaAddress(address, own)))
    throw new PlatformError('media_refused', 'A file is stored on a host that is not WeCom’s');
  const { status, body, headers } = await requestBounded(new URL(address), {
    method: 'GET',
    maxBytes: maxBytes + PADDING_ROOM_BYTES,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (status !== 200) throw downloadError(status);
  const plain = openedBy([ownKey, aesKey], body);
  if (plain === undefined) throw new PlatformError('media_unreadable', 'A file cannot be decrypted');
  if (plain.length > maxBytes) throw new PlatformError('media_too_large', `A file is larger than ${maxBytes} bytes`);
  return { bytes: plain, name: parseDispositionFileName(headers['content-disposition']) };
}

/** The bytes, decrypted with the first key that works: the file's own, else the bot's. */
function openedBy(keys: readonly (AesKey | undefined)[], sealed: Buffer): Buffer | undefined {
  for (const key of keys) {
    try {
      if (key !== undefined) return decryptPadded(key, sealed);
    } catch {
      // Try the next key.
    }
  }
  return undefined;
}
