import type { PushResult } from '../platform.ts';
import type { ReplySnapshot } from '../../domain/reply.ts';
import { answerCommand, isNotInChannel } from './answer-command.ts';
import type { SlackResponse, SlackApi } from './platform-api.ts';
import { formatHandle, type PostedMessage, type ReplyTarget } from './reply-target.ts';
import {
  areBlocksRefused,
  toTextOnly,
  blocksOf,
  plainText,
  wholeSnapshot,
  type SlackContent,
  type SnapshotContent,
} from './write-snapshot.ts';

/** Metadata type of our messages, used to find them again. */
export const ANSWER_EVENT = 'parley_answer';

/** Metadata type of a message that is not an answer and is being deleted. */
export const REMOVED_EVENT = 'parley_removed';

/** Metadata that marks a message as our answer, and its end as complete. It contains only hashes, no text. */
export function metadataOf(postKey: string, { ends }: Pick<ReplySnapshot, 'ends'> = {}): object {
  const merged = ends && ends.mergedKeys.length > 0 ? ends.mergedKeys.join(' ') : undefined;
  return {
    event_type: ANSWER_EVENT,
    event_payload: { key: postKey, last: ends?.lastKey, merged },
  };
}

/** Posts an answer as a message that can be edited later. Falls back to plainer forms if Slack refuses the content. */
export async function postMessage(
  api: SlackApi,
  target: ReplyTarget,
  words: ReplySnapshot,
  postKey: string,
): Promise<PushResult> {
  const { channel, threadTs } = target;
  const post = (how: SlackContent) =>
    api.call('chat.postMessage', {
      channel,
      thread_ts: threadTs,
      markdown_text: how.markdown_text,
      text: how.text,
      blocks: how.blocks,
      metadata: metadataOf(postKey, words),
      unfurl_links: false,
      unfurl_media: false,
    });
  const first = await post(wholeSnapshot(words));
  if (first.kind === 'error' && areBlocksRefused(first.error, words))
    return postMessage(api, target, toTextOnly(words), postKey);
  const answer = isFormRefused(first) ? await post({ text: plainText(words) }) : first;
  if (answer.kind === 'error' && isNotInChannel(answer.error) && target.ts === undefined)
    return postElsewhere(api, target, words, postKey);
  return toPushResult(answer, (body) => ({
    channel: textOf(body['channel']) ?? channel,
    ts: textOf(body['ts']) ?? '',
  }));
}

/** Whether Slack refused the content in the form in which it was sent. */
function isFormRefused(answer: SlackResponse): boolean {
  return answer.kind === 'error' && answer.meaning === 'snapshot';
}

/**
 * Handles a command typed where the app is not a member. In a chat between two people it is answered in the app's own chat
 * with the asker, which Slack opens for the asker's id; in a channel only the asker sees the answer.
 */
async function postElsewhere(
  api: SlackApi,
  target: ReplyTarget,
  snapshot: ReplySnapshot,
  postKey: string,
): Promise<PushResult> {
  if (target.isPrivate && target.channel !== target.userId)
    return postMessage(api, { ...target, channel: target.userId }, snapshot, postKey);
  return (await answerCommand(target, snapshot)) ?? { result: 'refused', why: 'conversation' };
}

/**
 * Replaces the whole content of a message with blocks. Blocks are required to also replace everything below the text
 * (SECURITY.md whole-texts).
 */
export async function editMessage(
  api: SlackApi,
  posted: PostedMessage,
  words: SnapshotContent,
  postKey: string,
): Promise<PushResult> {
  const { channel, ts } = posted;
  const edit = ({ markdown_text, text, blocks }: SlackContent) =>
    api.call('chat.update', { channel, ts, markdown_text, text, blocks, metadata: metadataOf(postKey, words) });
  const shown = await edit(blocksOf(words));
  const answer = isFormRefused(shown) ? await edit(wholeSnapshot(toTextOnly(words))) : shown;
  return toPushResult(answer, () => ({ channel, ts }));
}

/** Converts Slack's answer to a post, with the handle of the posted message. */
export function toPushResult(
  answer: SlackResponse,
  posted: (body: Record<string, unknown>) => PostedMessage,
): PushResult {
  switch (answer.kind) {
    case 'ok': {
      const message = posted(answer.body);
      return message.ts === '' ? { result: 'uncertain' } : { result: 'sent', handle: formatHandle(message) };
    }
    case 'busy':
      return { result: 'busy', retryAfterMs: answer.retryAfterMs };
    case 'uncertain':
      return { result: answer.kind, isAnswered: answer.isAnswered };
    case 'unauthorised':
      return { result: answer.kind };
    case 'error':
      return answer.meaning === 'stopped' ? { result: 'stopped' } : { result: 'refused', why: answer.meaning };
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
