import type { PushResult } from '../platform.ts';
import type { ReplySnapshot } from '../../domain/reply.ts';
import { answerCommand, isNotThere } from './answer-command.ts';
import type { SlackAnswer, SlackApi } from './platform-api.ts';
import { formatHandle, type PostedMessage, type ReplyTarget } from './reply-target.ts';
import { areBlocksRefused, asTextAlone, blocksOf, plainText, wholeSnapshot, type Words } from './write-snapshot.ts';

/** The kind of our messages' metadata, by which they are found again. */
export const ANSWER_EVENT = 'parley_answer';

const UNFURL_OFF = { unfurl_links: false, unfurl_media: false };

/** The kind of metadata of a message that is nobody's answer and is being taken away. */
export const REMOVED_EVENT = 'parley_removed';

/** The metadata that marks an answer as ours, and as whole; it holds hashes, nothing of what was said. */
export function metadataOf(postKey: string, { ends }: Pick<ReplySnapshot, 'ends'> = {}): object {
  const merged = ends && ends.mergedKeys.length > 0 ? ends.mergedKeys.join(' ') : undefined;
  return {
    event_type: ANSWER_EVENT,
    event_payload: { key: postKey, last: ends?.lastKey, merged },
  };
}

/** Posts an answer as a message that is edited later; in plainer forms where Slack does not take what the message holds. */
export async function postMessage(
  api: SlackApi,
  target: ReplyTarget,
  words: ReplySnapshot,
  postKey: string,
): Promise<PushResult> {
  const { channel, threadTs } = target;
  const post = (how: object) =>
    api.call('chat.postMessage', {
      channel,
      thread_ts: threadTs,
      ...how,
      metadata: metadataOf(postKey, words),
      ...UNFURL_OFF,
    });
  const first = await post(wholeSnapshot(words));
  if (first.kind === 'error' && areBlocksRefused(first.error, words))
    return postMessage(api, target, asTextAlone(words), postKey);
  const answer = isFormRefused(first) ? await post({ text: plainText(words) }) : first;
  if (answer.kind === 'error' && isNotThere(answer.error) && target.ts === undefined)
    return postElsewhere(api, target, words, postKey);
  return resultOf(answer, (body) => ({ channel: textOf(body['channel']) ?? channel, ts: textOf(body['ts']) ?? '' }));
}

/** Whether Slack did not take what a message holds, in the form in which it was given. */
function isFormRefused(answer: SlackAnswer): boolean {
  return answer.kind === 'error' && answer.meaning === 'snapshot';
}

/**
 * The app's command can be typed where the app is no member. What was typed between two people is answered in the app's own chat with
 * the one who asked, which Slack opens for their id; in a channel the asker alone sees it.
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
 * Replaces all that a message says, as blocks: whatever stood below it goes with them, which nobody promises of other edits
 * (SECURITY.md whole-texts).
 */
export async function editMessage(
  api: SlackApi,
  posted: PostedMessage,
  words: Words,
  postKey: string,
): Promise<PushResult> {
  const { channel, ts } = posted;
  const edit = (how: object) => api.call('chat.update', { channel, ts, ...how, metadata: metadataOf(postKey, words) });
  const shown = await edit(blocksOf(words));
  const answer = isFormRefused(shown) ? await edit(wholeSnapshot(asTextAlone(words))) : shown;
  return resultOf(answer, () => ({ channel, ts }));
}

/** Slack's answer to a post, and under which handle the message stands if it does. */
export function resultOf(answer: SlackAnswer, posted: (body: Record<string, unknown>) => PostedMessage): PushResult {
  switch (answer.kind) {
    case 'ok': {
      const message = posted(answer.body);
      return message.ts === '' ? { result: 'uncertain' } : { result: 'sent', handle: formatHandle(message) };
    }
    case 'busy':
      return { result: 'busy', retryAfterMs: answer.retryAfterMs };
    case 'uncertain':
    case 'unauthorised':
      return { result: answer.kind };
    case 'error':
      return answer.meaning === 'stopped' ? { result: 'stopped' } : { result: 'refused', why: answer.meaning };
  }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
