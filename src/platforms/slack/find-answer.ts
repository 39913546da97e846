import { z } from 'zod';
import type { SlackApi } from './platform-api.ts';
import { ANSWER_EVENT } from './post-answer.ts';
import { formatHandle, type ReplyTarget } from './reply-target.ts';

const MOST_LOOKED_AT = 200;

const messageShape = z.looseObject({
  ts: z.string(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  metadata: z
    .looseObject({ event_type: z.string(), event_payload: z.looseObject({ key: z.string().optional() }).optional() })
    .optional(),
});
type FoundMessage = z.infer<typeof messageShape>;

/**
 * Looks in the chat for an answer that was posted, perhaps (security.md 4.5, "lookup"). A finished answer carries its key
 * as metadata, which Slack only returns with `include_all_metadata`. A stream that its opener lost has none yet: it is the
 * bot's own message below the question that carries no key.
 */
export async function findAnswer(
  api: SlackApi,
  botUserId: string | undefined,
  target: ReplyTarget,
  postKey: string,
): Promise<{ handle: string } | 'absent' | 'unknown'> {
  const { channel, threadTs, ts } = target;
  const where =
    threadTs === undefined
      ? { method: 'conversations.history', args: {} }
      : { method: 'conversations.replies', args: { ts: threadTs } };
  const answer = await api.call(where.method, {
    channel,
    ...where.args,
    ...(ts === undefined ? {} : { oldest: ts, inclusive: false }),
    limit: MOST_LOOKED_AT,
    include_all_metadata: true,
  });
  if (answer.kind !== 'ok') return 'unknown';
  const read = z.array(messageShape).safeParse(answer.body['messages']);
  if (!read.success) return 'unknown';
  const own = read.data.filter((message) => isOwn(message, botUserId) && isAfter(message.ts, ts));
  const found = own.find((message) => keyOf(message) === postKey);
  if (found) return { handle: formatHandle({ channel, ts: found.ts }) };
  // The newest: threads come oldest first from Slack, channels newest first.
  const lost = own
    .filter((message) => keyOf(message) === undefined)
    .reduce<FoundMessage | undefined>(
      (newest, one) => (newest && isAfter(newest.ts, one.ts) ? newest : one),
      undefined,
    );
  // As a stream of age zero it is ended before it is edited.
  return lost ? { handle: formatHandle({ channel, ts: lost.ts, streamSinceMs: 0 }) } : 'absent';
}

function isOwn({ user, bot_id: botId }: FoundMessage, botUserId: string | undefined): boolean {
  return botId !== undefined && (botUserId === undefined || user === undefined || user === botUserId);
}

/** Both are seconds with decimals of the same width or not; as text they compare by length of the seconds, then letter by letter. */
function isAfter(ts: string, questionTs: string | undefined): boolean {
  if (questionTs === undefined) return true;
  const [seconds = '', part = ''] = ts.split('.');
  const [thanSeconds = '', thanPart = ''] = questionTs.split('.');
  const width = Math.max(seconds.length, thanSeconds.length);
  const [left, right] = [seconds.padStart(width, '0'), thanSeconds.padStart(width, '0')];
  return left === right ? part.padEnd(9, '0') > thanPart.padEnd(9, '0') : left > right;
}

function keyOf({ metadata }: FoundMessage): string | undefined {
  return metadata?.event_type === ANSWER_EVENT ? (metadata.event_payload?.key ?? '') : undefined;
}
