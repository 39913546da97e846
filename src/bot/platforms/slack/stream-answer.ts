import { monotonicMs, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { FENCE_HOLDS_MS, type PushResult } from '../platform.ts';
import { type ReplySnapshot } from '../../domain/reply.ts';
import type { SlackApi } from './platform-api.ts';
import { editMessage, metadataOf, resultOf, textOf } from './post-answer.ts';
import { formatHandle, type PostedMessage, type ReplyTarget } from './reply-target.ts';
import { belowStream, areBlocksRefused, asTextAlone } from './write-snapshot.ts';

/** A stream dies about 306 s after its start, whatever is appended (PLATFORM_FACTS.md slack-web-api); from here on it is edited. */
const STREAM_LIFE_MS = 240 * SECOND_MS;
const LEAST_TIMEOUT_MS = 5 * SECOND_MS;
/** Slack's answers when a message is no stream (any more): it can still be edited. */
const NO_STREAM = new Set(['message_not_in_streaming_state', 'message_not_found_in_streaming_state']);
export interface StreamParts {
  api: SlackApi;
  nowMs: NowMs;
  /** How long Slack may still carry out a post after it left. Milliseconds. */
  settlesWithinMs: number;
}

/**
 * Opens a native stream with the first text. It takes no metadata, so that only Slack's answer says which message it is: that is
 * waited for as long as it could come.
 * @returns undefined where Slack opens no stream: then the answer is posted and edited
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
  const answer = await api.call('chat.startStream', args, Math.max(settlesWithinMs, LEAST_TIMEOUT_MS));
  if (answer.kind === 'error' && answer.meaning !== 'stopped') return undefined;
  return resultOf(answer, (body) => ({
    channel: textOf(body['channel']) ?? channel,
    ts: textOf(body['ts']) ?? '',
    streamSinceMs,
  }));
}

/**
 * Brings a stream to a snapshot. What only adds is appended; anything else ends the stream and edits the whole text, since an
 * append has no sequence number and cannot be repeated safely.
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
  // What comes after a call that took long is asked of the fence first: this process may have been frozen in it.
  const hasTime = () => monotonicMs() - beganMs < FENCE_HOLDS_MS;
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
    return growStream(parts, posted, asTextAlone(snapshot), postKey);
  // Whether it was appended is not known, or the last text is not taken this way: the whole text is laid over it.
  const isEndRefused = answer.kind === 'error' && answer.meaning !== 'stopped' && snapshot.finished;
  if (answer.kind === 'uncertain' || isEndRefused) return endAndEdit(api, posted, snapshot, { postKey, hasTime });
  return resultOf(answer, () => (snapshot.finished ? { channel, ts } : posted));
}

/** Ends the stream, be it open or over, and lays the whole text over it. */
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
  // A stream that may still be open refuses the edit; that refusal would be taken for the last word.
  if (ended.kind === 'uncertain' || !hasTime()) return { result: 'uncertain' };
  if (ended.kind === 'error' && ended.meaning === 'stopped' && !finished) return { result: 'stopped' };
  const edited = await editMessage(api, posted, snapshot, postKey);
  // A stream whose end was refused for now may be open, which is why the edit was refused: both may be taken later.
  const mayBeOpen = ended.kind === 'error' && ended.meaning === 'passing';
  return mayBeOpen && edited.result === 'refused' ? { result: 'refused', why: 'passing' } : edited;
}
