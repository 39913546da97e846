import { monotonicMs, type NowMs } from '../../../shared/clock.ts';
import { FENCE_VALID_MS, type PostLookupResult, type PushReplies, type PushResult } from '../platform.ts';
import { type ReplySnapshot } from '../../domain/reply.ts';
import { answerCommand, isEphemeral } from './answer-command.ts';
import { createFileReplies } from './answer-file.ts';
import { findAnswer } from './find-answer.ts';
import type { SlackApi } from './platform-api.ts';
import { editMessage, postMessage, textOf } from './post-answer.ts';
import { renderStatus } from './render-reply.ts';
import { requestFeedbackReason, acknowledgeFeedback } from './ask-why.ts';
import { removeAnswer } from './remove-answer.ts';
import { readHandle, readTarget } from './reply-target.ts';
import { growStream, openStream } from './stream-answer.ts';

export interface PushRepliesOptions {
  api: SlackApi;
  apiUrl: string;
  /** `stream`: Slack's native streams where the chat has them; `edit`: a message and edits of it. */
  reply: 'stream' | 'edit';
  /** Whether answers have buttons. */
  hasButtons: boolean;
  nowMs: NowMs;
  /** How long Slack may still carry out a post after it was sent. Milliseconds. */
  settlesWithinMs: number;
  /** Distinguishes the places of a further workspace; empty for the first workspace. */
  placePrefix?: string;
}

const NOTHING_THERE: PostLookupResult = { keyed: [], orphans: [], pendingDeletes: [] };

/** Shows each answer as one growing message, by a native stream or by edits. Any process can continue with a handle. */
export function createPushReplies(options: PushRepliesOptions): PushReplies {
  const { api, apiUrl, reply, hasButtons, placePrefix = '' } = options;
  const withOffers = (snapshot: ReplySnapshot) => (hasButtons ? snapshot : { ...snapshot, offers: undefined });
  const botUserId = rememberBotUserId(api);
  return {
    async open(target, given, postKey) {
      const snapshot = withOffers(given);
      const place = readTarget(target);
      const answered = place.response?.isFirst === true ? await answerCommand(place, snapshot) : undefined;
      if (answered) return answered;
      const isKeyedFromTheStart = snapshot.finished || snapshot.staysOpen === true || snapshot.isRepeat === true;
      const isStreamed = reply === 'stream' && place.threadTs !== undefined && !isKeyedFromTheStart;
      const beganMs = monotonicMs();
      const streamed = isStreamed ? await openStream(options, place, snapshot) : undefined;
      if (!streamed && monotonicMs() - beganMs >= FENCE_VALID_MS) return { result: 'uncertain' };
      return streamed ?? postMessage(api, place, snapshot, postKey);
    },
    update: (handle, snapshot, postKey) => update(options, handle, withOffers(snapshot), postKey),
    async find(target, postKey) {
      // An ephemeral message cannot be looked up.
      if (readTarget(target).response?.isFirst === true) return NOTHING_THERE;
      return findAnswer(options, await botUserId(), readTarget(target), postKey);
    },
    files: createFileReplies(api, apiUrl),
    remove: (handle, isStray) => removeAnswer(api, handle, isStray),
    placeOf(target) {
      const { channel, threadTs = '' } = readTarget(target);
      return `${placePrefix}${channel}/${threadTs}`;
    },
    async postEphemeral(target, text) {
      const { channel, threadTs, userId } = readTarget(target);
      await api.call('chat.postEphemeral', { channel, user: userId, thread_ts: threadTs, text });
    },
    requestFeedbackReason: (followUp, answer, words) => requestFeedbackReason(api, followUp, answer, words),
    acknowledgeFeedback,
    async showStatus(target, status) {
      const { channel, threadTs } = readTarget(target);
      if (threadTs === undefined) return true;
      const { kind } = await api.call('assistant.threads.setStatus', {
        channel_id: channel,
        thread_ts: threadTs,
        status: renderStatus(status),
      });
      return kind === 'ok' || (status !== '' && kind !== 'uncertain');
    },
  };
}

async function update(
  options: PushRepliesOptions,
  handle: string,
  snapshot: ReplySnapshot,
  postKey: string,
): Promise<PushResult> {
  if (isEphemeral(handle)) return { result: 'sent', handle };
  const posted = readHandle(handle);
  if (posted.streamSinceMs !== undefined) return growStream(options, posted, snapshot, postKey);
  return editMessage(options.api, posted, snapshot, postKey);
}

/** The bot's user id, requested on first use; a failed request is repeated on the next use. */
function rememberBotUserId(api: SlackApi): () => Promise<string | undefined> {
  let known: string | undefined;
  return async () => {
    if (known !== undefined) return known;
    const answer = await api.call('auth.test', {});
    known = answer.kind === 'ok' ? textOf(answer.body['user_id']) : undefined;
    return known;
  };
}
