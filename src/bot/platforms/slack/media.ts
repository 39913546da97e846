import { fieldsOf } from '../../../shared/parse-json.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { requestBounded } from '../bounded-request.ts';
import { parseDispositionFileName } from '../file-name.ts';
import type { FetchedMedia } from '../platform.ts';
import { downloadError, PlatformError } from '../platform-error.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

const DOWNLOAD_TIMEOUT_MS = 20 * SECOND_MS;

/**
 * Whether the bot's token may be sent to an address: the configured platform's origin, or Slack's own hosts over https
 * (SECURITY.md pinned-media).
 */
export function isFileAddress(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, protocol, port, hostname } = new URL(address);
  if (origin === new URL(apiUrl).origin) return true;
  return protocol === 'https:' && port === '' && /(?:^|\.)slack\.com$/.test(hostname);
}

/** Prefix of a reference that has a file id instead of an address; Slack must be asked for the address. */
const ASK_FOR = 'slack-file:';

export function isFileId(id: string | undefined): id is string {
  return id !== undefined && /^F[A-Z0-9]{1,40}$/.test(id);
}

/** Reference of a file whose address is unknown. */
export function refOfFile(id: string): string {
  return `${ASK_FOR}${id}`;
}

interface FileRequest {
  mediaRef: string;
  api: SlackApi;
  apiUrl: string;
  botToken: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Downloads a file with the bot's token. Redirects are not followed, so the token is sent only to Slack.
 * @throws PlatformError `media_refused`, `media_elsewhere`, `media_gone`, `media_too_large`, `media_unreadable`,
 * `unreachable`
 */
export async function fetchFile({ mediaRef, api, ...request }: FileRequest): Promise<FetchedMedia> {
  if (!mediaRef.startsWith(ASK_FOR)) return fetchFrom(mediaRef, request);
  const { address, name } = await askFor(api, mediaRef.slice(ASK_FOR.length));
  const fetched = await fetchFrom(address, request);
  return { bytes: fetched.bytes, name: name ?? fetched.name };
}

/** @throws PlatformError `media_gone` if Slack does not provide the file, `unreachable` */
async function askFor(api: SlackApi, fileId: string): Promise<{ address: string; name: string | undefined }> {
  const answer = await api.call('files.info', { file: fileId });
  if (answer.kind === 'error')
    throw new PlatformError('media_gone', `Slack returned no information about the file (${answer.error})`);
  if (answer.kind !== 'ok')
    throw new PlatformError('unreachable', `Slack returned no information about the file (${answer.kind})`);
  const file = fieldsOf(answer.body['file']);
  if (file['mode'] === 'external' || file['is_external'] === true)
    throw new PlatformError('media_elsewhere', 'The file is stored outside Slack');
  const address = textOf(file['url_private_download']) ?? textOf(file['url_private']);
  if (address === undefined) throw new PlatformError('media_gone', 'Slack returned no address for the file');
  return { address, name: textOf(file['name']) };
}

async function fetchFrom(
  address: string,
  { apiUrl, botToken, maxBytes, signal }: Omit<FileRequest, 'mediaRef' | 'api'>,
): Promise<FetchedMedia> {
  if (!isFileAddress(address, apiUrl)) throw new PlatformError('media_refused', 'The file is not stored at Slack');
  const { status, body, contentType, headers } = await requestBounded(new URL(address), {
    method: 'GET',
    headers: { authorization: `Bearer ${botToken}` },
    maxBytes,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  });
  if (status !== 200) throw downloadError(status);
  const disposition = headers['content-disposition'];
  // If Slack rejects the token, it returns a login page with status 200 (PLATFORM_FACTS.md slack-messages). A real HTML file
  // is sent as an attachment.
  if (contentType?.startsWith('text/html') === true && !isAttachment(disposition))
    throw new PlatformError('media_unreadable', 'Slack returned a login page instead of the file');
  return { bytes: body, name: parseDispositionFileName(disposition) };
}

function isAttachment(disposition: string | string[] | undefined): boolean {
  return typeof disposition === 'string' && /^attachment\b/i.test(disposition);
}
