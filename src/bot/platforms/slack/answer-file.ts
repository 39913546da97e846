import { SECOND_MS } from '../../../shared/clock.ts';
import { outsideCall } from '../../../shared/fail-point.ts';
import { requestBounded } from '../bounded-request.ts';
import { PlatformError } from '../platform-error.ts';
import { FENCE_HOLDS_MS, type AnswerFile, type FileBrought, type FileReplies, type PostResult } from '../platform.ts';
import { fieldsOf } from './body-fields.ts';
import { isFileAddress } from './media.ts';
import type { SlackAnswer, SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';
import { readTarget } from './reply-target.ts';

const BYTES_TIMEOUT_MS = 20 * SECOND_MS;

/**
 * Files beside answers. Slack gives a file its id before anybody sees it, and shows it once it is told that it is complete
 * (PLATFORM_FACTS.md slack-files): one id is one file, however often that is said.
 */
export function createFileReplies(api: SlackApi, apiUrl: string): FileReplies {
  return {
    // What a command asks may be answered to its sender alone, and a file is seen by everybody there.
    canShow: (target) => readTarget(target).response === undefined,
    async bring(file) {
      const length = Buffer.byteLength(file.text);
      const place = await api.call('files.getUploadURLExternal', { filename: file.name, length });
      if (place.kind !== 'ok') return { result: failureOf(place) };
      const [fileId, address] = [textOf(place.body['file_id']), textOf(place.body['upload_url'])];
      if (fileId === undefined || address === undefined || !isFileAddress(address, apiUrl))
        return { result: 'refused' };
      return bringBytes(new URL(address), fileId, file);
    },
    async show(target, fileId, { name, mayStand }) {
      if (mayStand && (await isShown(api, target, fileId))) return 'sent';
      const { channel, threadTs } = readTarget(target);
      const files = [{ id: fileId, title: name }];
      const args = { files, channel_id: channel, thread_ts: threadTs };
      const answer = await api.call('files.completeUploadExternal', args);
      const shown: PostResult = answer.kind === 'ok' ? 'sent' : failureOf(answer);
      // Slack may say no to what it did before.
      return shown === 'refused' && mayStand && (await isShown(api, target, fileId)) ? 'sent' : shown;
    },
  };
}

/** The address is good for this file alone, so it takes no token. */
async function bringBytes(address: URL, fileId: string, { text }: AnswerFile): Promise<FileBrought> {
  const request = {
    method: 'POST',
    text,
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

/** Whether a file stands in the chat where the answer goes. What Slack does not say is taken for no: to show it once more harms nothing. */
async function isShown(api: SlackApi, target: string, fileId: string): Promise<boolean> {
  const answer = await api.call('files.info', { file: fileId }, FENCE_HOLDS_MS);
  const shares = answer.kind === 'ok' ? fieldsOf(fieldsOf(answer.body['file'])['shares']) : {};
  const { channel } = readTarget(target);
  return ['public', 'private'].some((kind) => fieldsOf(shares[kind])[channel] !== undefined);
}

function failureOf(answer: Exclude<SlackAnswer, { kind: 'ok' }>): Exclude<PostResult, 'sent'> {
  if (answer.kind !== 'error') return answer.kind;
  return answer.meaning === 'passing' ? 'declined' : 'refused';
}
