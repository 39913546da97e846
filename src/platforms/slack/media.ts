import { SECOND_MS } from '../../base/clock.ts';
import { requestBounded } from '../bounded-request.ts';
import { fileNameOf } from '../file-name.ts';
import type { FetchedMedia } from '../platform.ts';
import { PlatformError } from '../platform-error.ts';

const DOWNLOAD_TIMEOUT_MS = 20 * SECOND_MS;

/** Whether the bot's token may be sent to an address: the configured platform's origin, or Slack's own hosts by https (SECURITY.md pinned-media). */
export function isFileAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  if (origin === new URL(apiUrl).origin) return true;
  return protocol === 'https:' && port === '' && /(?:^|\.)slack\.com$/.test(hostname);
}

interface FileRequest {
  mediaRef: string;
  apiUrl: string;
  botToken: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Downloads a file with the bot's token; redirects are not followed, so the token never leaves Slack.
 * @throws PlatformError `media_refused`, `media_gone`, `media_too_large`, `media_unreadable`, `unreachable`
 */
export async function fetchFile({ mediaRef, apiUrl, botToken, maxBytes, signal }: FileRequest): Promise<FetchedMedia> {
  if (!isFileAddress(mediaRef, apiUrl)) throw new PlatformError('media_refused', 'The file does not lie at Slack');
  const { status, body, contentType, headers } = await requestBounded(new URL(mediaRef), {
    method: 'GET',
    headers: { authorization: `Bearer ${botToken}` },
    maxBytes,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (status === 404 || status === 410) throw new PlatformError('media_gone', `The file is gone (${status})`);
  if (status !== 200) throw new PlatformError('unreachable', `The file could not be fetched (${status})`);
  const disposition = headers['content-disposition'];
  // With a token that Slack does not take, a login page comes with status 200 (PLATFORM_FACTS.md slack-messages); a page that somebody sent is handed out as a file.
  if (contentType?.startsWith('text/html') === true && !isAttachment(disposition))
    throw new PlatformError('media_unreadable', 'Slack sent a login page in place of the file');
  return { bytes: body, name: fileNameOf(disposition) };
}

function isAttachment(disposition: string | string[] | undefined): boolean {
  return typeof disposition === 'string' && /^attachment\b/i.test(disposition);
}
