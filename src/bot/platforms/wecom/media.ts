import { SECOND_MS } from '../../../shared/clock.ts';
import { requestBounded } from '../bounded-request.ts';
import type { FetchedMedia } from '../platform.ts';
import { fileNameOf } from '../file-name.ts';
import { PlatformError } from '../platform-error.ts';
import { decryptPadded } from './crypto.ts';

/** The padding makes an encrypted file at most this much longer than the file. */
const PADDING_ROOM_BYTES = 32;
const DOWNLOAD_TIMEOUT_MS = 20 * SECOND_MS;
const KEY_MARK = '#aeskey=';
const NO_KEY = Buffer.alloc(0);
const KEY_BYTES = 32;
const HEX_KEY = /^[0-9a-f]{64}$/i;

/**
 * Where WeCom keeps what people send to a bot. Its pages name no hosts for media; the callbacks seen carry addresses
 * of buckets that belong to this one account of Tencent's cloud, so no other tenant's bucket there is trusted.
 */
const MEDIA_HOST = /^ww-aibot-[a-z]+-1258476243\.cos\.[a-z0-9-]+\.myqcloud\.com$/;
const WEIXIN_HOST = /(?:^|\.)weixin\.qq\.com$/;
const PUBLIC_API_ORIGIN = 'https://qyapi.weixin.qq.com';

/** Whether a file may be downloaded from an address: the configured platform's origin, or WeCom's own hosts (SECURITY.md pinned-media). */
export function isMediaAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  // A connection's files lie beside it, and are fetched by HTTP.
  if (origin === new URL(apiUrl.replace(/^ws/, 'http')).origin) return true;
  return protocol === 'https:' && port === '' && (MEDIA_HOST.test(hostname) || WEIXIN_HOST.test(hostname));
}

/** Whether a later answer may be posted to an address: the configured platform's origin, or WeCom's public one. */
export function isReplyAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  return [new URL(apiUrl).origin, PUBLIC_API_ORIGIN].includes(new URL(address).origin);
}

/** What is kept of a file: its address and, where it has one of its own, its key, in a place that is never sent. */
export function mediaRefOf({ url, aeskey }: { url: string; aeskey?: string }): string {
  return aeskey === undefined ? url : `${url}${KEY_MARK}${Buffer.from(aeskey).toString('base64url')}`;
}

function keyIn(mediaRef: string): { address: string; ownKey: Buffer | undefined } {
  const at = mediaRef.lastIndexOf(KEY_MARK);
  if (at === -1) return { address: mediaRef, ownKey: undefined };
  const written = Buffer.from(mediaRef.slice(at + KEY_MARK.length), 'base64url').toString();
  return { address: mediaRef.slice(0, at), ownKey: readMediaKey(written) };
}

/**
 * Reads a file's own key in any form that WeCom's interfaces use: 64 hexadecimal digits, base64 or base64url with or without padding (also of
 * the hexadecimal digits), or 32 raw bytes. Undefined for any other text.
 */
export function readMediaKey(written: string): Buffer | undefined {
  if (Buffer.byteLength(written) === KEY_BYTES) return Buffer.from(written);
  if (written.length === KEY_BYTES && !/[^\0-\xff]/.test(written)) return Buffer.from(written, 'latin1');
  const text = written.trim();
  if (HEX_KEY.test(text)) return Buffer.from(text, 'hex');
  // Node reads both alphabets, with and without padding.
  const bytes = /^[\w+/-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : NO_KEY;
  if (bytes.length === KEY_BYTES) return bytes;
  return HEX_KEY.test(bytes.toString('latin1')) ? Buffer.from(bytes.toString('latin1'), 'hex') : undefined;
}

interface MediaRequest {
  mediaRef: string;
  /** Whose files are fetched beside WeCom's own: the addresses that the settings name. */
  ownUrls: readonly string[];
  /** The bot's, for files that have none of their own; absent where every file has. */
  aesKey: Buffer | undefined;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Downloads and decrypts what somebody sent. Addresses live for five minutes.
 * @throws PlatformError `media_refused`, `media_gone`, `media_too_large`, `media_unreadable`, `unreachable`
 */
export async function fetchMedia({ mediaRef, ownUrls, aesKey, maxBytes, signal }: MediaRequest): Promise<FetchedMedia> {
  const { address, ownKey } = keyIn(mediaRef);
  if (!ownUrls.some((own) => isMediaAddress(address, own)))
    throw new PlatformError('media_refused', 'A file lies on a host that is not WeCom’s');
  const { status, body, headers } = await requestBounded(new URL(address), {
    method: 'GET',
    maxBytes: maxBytes + PADDING_ROOM_BYTES,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (status !== 200) throw new PlatformError('media_gone', `A file was not given (HTTP ${status})`);
  const plain = openedBy([ownKey, aesKey], body);
  if (plain === undefined) throw new PlatformError('media_unreadable', 'A file does not decrypt');
  if (plain.length > maxBytes) throw new PlatformError('media_too_large', `A file is larger than ${maxBytes} bytes`);
  return { bytes: plain, name: fileNameOf(headers['content-disposition']) };
}

/** The bytes under the first key that opens them: a file's own, else the bot's. */
function openedBy(keys: readonly (Buffer | undefined)[], sealed: Buffer): Buffer | undefined {
  for (const key of keys) {
    try {
      if (key !== undefined) return decryptPadded(key, sealed);
    } catch {
      // The next key is tried.
    }
  }
  return undefined;
}
