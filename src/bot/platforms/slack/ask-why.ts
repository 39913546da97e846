import { outsideCall } from '../../../shared/fail-point.ts';
import type { FeedbackFollowUp, FeedbackReason } from '../../domain/feedback.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import { requestBounded } from '../bounded-request.ts';
import { reasonBlocks } from './offers.ts';
import type { SlackApi } from './platform-api.ts';
import { readTarget } from './reply-target.ts';

/** Asks a person who rated an answer as bad what is wrong with it; only that person sees the question. */
export async function requestFeedbackReason(
  api: SlackApi,
  { target, language }: FeedbackFollowUp,
  answer: DeliveryId,
  { question, labels }: { question: string; labels: ReadonlyMap<FeedbackReason, string> },
): Promise<void> {
  const { channel, threadTs, userId } = readTarget(target);
  const blocks = reasonBlocks(question, labels, { answer, language });
  await api.call('chat.postEphemeral', { channel, user: userId, thread_ts: threadTs, text: question, blocks });
}

/** Replaces that question by a thank-you. The address is Slack's `response_url`: no token, five uses within half an hour. */
export async function acknowledgeFeedback({ askedAt }: FeedbackFollowUp, text: string): Promise<void> {
  if (askedAt === undefined) return;
  const json = { response_type: 'ephemeral', replace_original: true, text };
  await outsideCall('slack.response', () => requestBounded(new URL(askedAt), { method: 'POST', json }));
}
