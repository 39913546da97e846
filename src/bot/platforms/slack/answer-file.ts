import { fieldsOf } from '../../../shared/parse-json.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { requestBounded } from '../bounded-request.ts';
import { PlatformError } from '../platform-error.ts';
import { FENCE_VALID_MS, type AnswerFile, type UploadResult, type FileReplies, type PostResult } from '../platform.ts';
import { isFileAddress } from './media.ts';
import type { SlackResponse, SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';
import { readTarget } from './reply-target.ts';

const BYTES_TIMEOUT_MS = 20 * SECOND_MS;

/**
 * Files next to answers. Slack gives a file its id before the file is visible, and shows it when its upload is completed
 * (PLATFORM_FACTS.md slack-files). One id is one file, regardless of how often it is completed.
 */
export function createFileReplies(api: SlackApi, apiUrl: string): FileReplies {
  return {
    // A command may be answered to its sender only, whereas everyone in the chat sees a file.
    canShow: (target) => readTarget(target).response === undefined,
    async upload(file) {
      const length = Buffer.byteLength(file.text);
      const place = await api.call('files.getUploadURLExternal', { filename: file.name, length });
      if (place.kind !== 'ok') return { result: failureOf(place) };
      const [fileId, address] = [textOf(place.body['file_id']), textOf(place.body['upload_url'])];
      if (fileId === undefined || address === undefined || !isFileAddress(address, apiUrl))
        return { result: 'refused' };
      return bringBytes(new URL(address), fileId, file);
    },
    async show(target, fileId, { name, mayBeShown }) {
      if (mayBeShown && (await isShown(api, target, fileId))) return 'sent';
      const { channel, threadTs } = readTarget(target);
      const files = [{ id: fileId, title: name }];
      const args = { files, channel_id: channel, thread_ts: threadTs };
      const answer = await api.call('files.completeUploadExternal', args);
      const shown: PostResult = answer.kind === 'ok' ? 'sent' : failureOf(answer);
      // Slack may refuse a call that it has already carried out.
      return shown === 'refused' && mayBeShown && (await isShown(api, target, fileId)) ? 'sent' : shown;
    },
  };
}

/** The upload address is valid for this file only and needs no token. */
async function bringBytes(address: URL, fileId: string, { text }: AnswerFile): Promise<UploadResult> {
  const request = {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/octet-stream' },
    timeoutMs: BYTES_TIMEOUT_MS,
  } as const;
  try {
    const { status } = await outsideCall('slack.files.bytes', () => requestBounded(address, request));
    if (status === 200) return { result: 'sent', fileId };
    return { result: status === 429 || status >= 500 ? 'busy' : 'refused' };
  } catch (error) {
    if (error instanceof PlatformError) return { result: 'uncertain' };
    throw error;
  }
}

/**
 * Whether a file is visible in the answer's chat. An unknown state counts as no, because showing the file again is harmless.
 */
async function isShown(api: SlackApi, target: string, fileId: string): Promise<boolean> {
  const answer = await api.call('files.info', { file: fileId }, FENCE_VALID_MS);
  const shares = answer.kind === 'ok' ? fieldsOf(fieldsOf(answer.body['file'])['shares']) : {};
  const { channel } = readTarget(target);
  return ['public', 'private'].some((kind) => fieldsOf(shares[kind])[channel] !== undefined);
}

function failureOf(answer: Exclude<SlackResponse, { kind: 'ok' }>): Exclude<PostResult, 'sent'> {
  if (answer.kind !== 'error') return answer.kind;
  return answer.meaning === 'transient' ? 'declined' : 'refused';
}
