import { monotonicMs, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { FENCE_VALID_MS, type PushResult } from '../platform.ts';
import { type ReplySnapshot } from '../../domain/reply.ts';
import type { SlackApi } from './platform-api.ts';
import { editMessage, metadataOf, toPushResult, textOf } from './post-answer.ts';
import { formatHandle, type PostedMessage, type ReplyTarget } from './reply-target.ts';
import { belowStream, areBlocksRefused, toTextOnly } from './write-snapshot.ts';

/**
 * A stream expires about 306 s after its start, regardless of appends (PLATFORM_FACTS.md slack-streams). After this time the
 * message is edited instead.
 */
const STREAM_LIFE_MS = 240 * SECOND_MS;
const MIN_TIMEOUT_MS = 5 * SECOND_MS;
/** Slack's errors for a message that is not, or no longer, a stream. The message can still be edited. */
const NO_STREAM = new Set(['message_not_in_streaming_state', 'message_not_found_in_streaming_state']);
export interface StreamParts {
  api: SlackApi;
  nowMs: NowMs;
  /** How long Slack may still carry out a post after it was sent. Milliseconds. */
  settlesWithinMs: number;
}

/**
 * Opens a native stream with the first text. It accepts no metadata, so only Slack's answer names the message; the call
 * waits for that answer as long as it may arrive.
 * @returns undefined if Slack opens no stream; the answer is then posted and edited
 */
export async function openStream(
  { api, nowMs, settlesWithinMs }: StreamParts,
  { channel, threadTs, userId, teamId, isPrivate }: ReplyTarget,
  { content }: ReplySnapshot,
): Promise<PushResult | undefined> {
  const streamSinceMs = nowMs();
  const args = {
    channel,
    thread_ts: threadTs,
    markdown_text: content,
    recipient_user_id: isPrivate ? undefined : userId,
    recipient_team_id: isPrivate ? undefined : teamId,
  };
  const answer = await api.call('chat.startStream', args, Math.max(settlesWithinMs, MIN_TIMEOUT_MS));
  if (answer.kind === 'error' && answer.meaning !== 'stopped') return undefined;
  return toPushResult(answer, (body) => ({
    channel: textOf(body['channel']) ?? channel,
    ts: textOf(body['ts']) ?? '',
    streamSinceMs,
  }));
}

/**
 * Updates a stream to a snapshot. Added text is appended; any other change ends the stream and edits the whole text, because
 * an append has no sequence number and cannot be repeated safely.
 */
export async function growStream(
  parts: StreamParts,
  posted: PostedMessage,
  snapshot: ReplySnapshot,
  postKey: string,
): Promise<PushResult> {
  const { api, nowMs } = parts;
  const { channel, ts, streamSinceMs = 0 } = posted;
  const beganMs = monotonicMs();
  // After a slow call the fence must be checked again, because the process may have been frozen.
  const hasTime = () => monotonicMs() - beganMs < FENCE_VALID_MS;
  const isOld = nowMs() - streamSinceMs >= STREAM_LIFE_MS;
  const added =
    snapshot.shown !== undefined && snapshot.content.startsWith(snapshot.shown)
      ? snapshot.content.slice(snapshot.shown.length)
      : undefined;
  if (isOld || added === undefined) return endAndEdit(api, posted, snapshot, { postKey, hasTime });
  const addition = added === '' ? undefined : added;
  if (added === '' && !snapshot.finished) return { result: 'sent', handle: formatHandle(posted) };
  const answer = snapshot.finished
    ? await api.call('chat.stopStream', {
        ...{ channel, ts, markdown_text: addition, ...belowStream(snapshot) },
        metadata: metadataOf(postKey, snapshot),
      })
    : await api.call('chat.appendStream', { channel, ts, markdown_text: addition });
  if (answer.kind !== 'ok' && !hasTime()) return { result: 'uncertain' };
  if (answer.kind === 'error' && (NO_STREAM.has(answer.error) || (snapshot.finished && answer.meaning === 'stopped')))
    return editMessage(api, posted, snapshot, postKey);
  if (answer.kind === 'error' && areBlocksRefused(answer.error, snapshot))
    return growStream(parts, posted, toTextOnly(snapshot), postKey);
  // The append is uncertain, or the final text was refused: the whole text replaces the content.
  const isEndRefused = answer.kind === 'error' && answer.meaning !== 'stopped' && snapshot.finished;
  if (answer.kind === 'uncertain' || isEndRefused) {
    const replaced = await endAndEdit(api, posted, snapshot, { postKey, hasTime });
    return { ...replaced, isContentUnknown: answer.kind === 'uncertain' && replaced.result !== 'sent' };
  }
  return toPushResult(answer, () => (snapshot.finished ? { channel, ts } : posted));
}

/** Ends the stream, whether open or not, and replaces the content with the whole text. */
async function endAndEdit(
  api: SlackApi,
  posted: PostedMessage,
  snapshot: ReplySnapshot,
  { postKey, hasTime }: { postKey: string; hasTime(): boolean },
): Promise<PushResult> {
  const { channel, ts } = posted;
  const { finished } = snapshot;
  const ended = await api.call('chat.stopStream', {
    ...{ channel, ts, metadata: metadataOf(postKey) },
    session_status: finished ? undefined : 'processing',
  });
  if (ended.kind === 'busy') return { result: 'busy', retryAfterMs: ended.retryAfterMs };
  if (ended.kind === 'unauthorised') return { result: 'unauthorised' };
  // An open stream refuses the edit, and that refusal would count as permanent.
  if (ended.kind === 'uncertain' || !hasTime()) return { result: 'uncertain' };
  if (ended.kind === 'error' && ended.meaning === 'stopped' && !finished) return { result: 'stopped' };
  const edited = await editMessage(api, posted, snapshot, postKey);
  // If Slack temporarily refused to end the stream, the stream may be open and may have caused the edit's refusal; both may
  // succeed later.
  const mayBeOpen = ended.kind === 'error' && ended.meaning === 'transient';
  return mayBeOpen && edited.result === 'refused' ? { result: 'refused', why: 'transient' } : edited;
}
