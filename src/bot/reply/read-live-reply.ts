import { messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { AnswerOf, ScriptShape } from '../../shared/redis/script-shape.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Refusal } from '../domain/message.ts';
import type { PulledReply } from '../domain/reply.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../domain/ids.ts';
import { finalActions, growingActions } from './actions.ts';
import type { MissingReplies } from './missing-replies.ts';
import { CONTENT_PURPOSE } from './pulled-reply.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';

const POLL_SHAPE = {
  keys: ['record'],
  args: [
    'person',
    'handoverAgeMs',
    'deliveryId',
    'messagePrefix',
    'deliveredWithinMs',
    'noticeMs',
    'takesOffers',
    'looksOnly',
  ],
  answer: {
    ...{ isKnown: 'flag', content: 'text', finished: 'flag', handedOver: 'flag', later: 'flag', keep: 'flag' },
    ...{ state: 'text', contentId: 'text', elsewhere: 'flag', whole: 'flag', offers: 'text' },
  },
} as const satisfies ScriptShape;
type Polled = AnswerOf<typeof POLL_SHAPE>;
const pollScript = loadScript(import.meta.url, './scripts/poll.lua', POLL_SHAPE);

export interface ReadLiveReplyOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platform: Platform;
  /** Unknown replies that may still appear. Defaults to none. */
  missing?: MissingReplies;
  /** Called for each poll that shows a complete answer; the platform does not poll it again. */
  onSeen?(deliveryId: DeliveryId): void;
}

export interface PollRequest {
  partition: number;
  deliveryId: DeliveryId;
  /** The person who polls; only the message's own sender gets an answer. */
  personId: PersonId;
  /**
   * Set for a repeated delivery, which is answered with the current snapshot. That answer may not arrive, so it decides
   * nothing. A poll, in contrast, shows that the platform knows the reply and will ask again.
   */
  isRepeat?: boolean;
}

/** How long before the end of an older message's live time the worker is notified that its answer is shown there. */
const HANDOVER_NOTICE_MS = 10 * SECOND_MS;

/**
 * The current snapshot of a live reply, for the platform's poll; one round trip, from any process. A poll for an unknown
 * reply, or for another person's, ends with a notice, so that no client waits forever: at once, or after the time in which
 * the reply may still appear. A merged message shows the combined answer itself if the platform never polls the newer
 * message.
 */
export async function readLiveReply(options: ReadLiveReplyOptions, polled: PollRequest): Promise<PulledReply> {
  const { redis, platform } = options;
  const { liveLifetimeMs, handoverMarginMs, deliveredWithinMs, takesOffers = '' } = platform.replyTraits;
  const replyId = polled.deliveryId;
  const { isKnown, ...found } = await pollScript.run(
    redis,
    { record: messageKey(polled.partition, replyId) },
    {
      person: polled.personId,
      handoverAgeMs: liveLifetimeMs - handoverMarginMs,
      deliveryId: replyId,
      messagePrefix: messageKeyPrefix(polled.partition),
      deliveredWithinMs,
      noticeMs: HANDOVER_NOTICE_MS,
      takesOffers,
      looksOnly: polled.isRepeat === true,
    },
  );
  if (!isKnown && options.missing?.mayStillAppear(replyId)) return { replyId, content: '', finished: false };
  if (!isKnown) return { replyId, content: REPLY_TEXTS.unknownReply.en, finished: true };

  if (found.state === 'limited' || found.state === 'full')
    return { replyId, content: refusalText(found.state), finished: true };
  if (found.elsewhere) return { replyId, content: REPLY_TEXTS.answeredAbove.en, finished: true };
  const content = openContent(options.keyRing, asDeliveryId(found.contentId), found.content);
  // During a key rotation only some receivers have the key; a later poll reaches a receiver that has it.
  if (content === undefined && !found.handedOver) return { replyId, content: '', finished: false };
  if (found.whole && !found.handedOver && polled.isRepeat !== true) options.onSeen?.(replyId);
  return { ...snapshotOf(replyId, content ?? '', found), offers: offersOf(found) };
}

/** The buttons of the answered message, wherever its answer is shown. */
function offersOf({ offers, contentId, finished }: Pick<Polled, 'offers' | 'contentId' | 'finished'>) {
  if (offers === '') return undefined;
  const answered = {
    deliveryId: asDeliveryId(contentId),
    language: offers === 'zh' ? ('zh' as const) : ('en' as const),
  };
  const atEnd = finalActions(answered, ['retry']);
  return finished ? atEnd : { ...growingActions(answered), retry: atEnd?.retry };
}

function snapshotOf(
  replyId: DeliveryId,
  content: string,
  { finished, handedOver, later, keep }: Pick<Polled, 'finished' | 'handedOver' | 'later' | 'keep'>,
): PulledReply {
  if (finished) return { replyId, content: content === '' ? REPLY_TEXTS.unknownReply.en : content, finished: true };
  if (!handedOver) return { replyId, content, finished: false };
  const notice = later ? REPLY_TEXTS.followsBelow.en : REPLY_TEXTS.tookTooLong.en;
  return { replyId, content: keep && content !== '' ? content : notice, finished: true };
}

/** Text for a refused message; bilingual because the message was not read. */
export function refusalText(refusal: Refusal): string {
  const { zh, en } = refusal === 'full' ? REPLY_TEXTS.inboxFull : REPLY_TEXTS.tooMany;
  return `${zh}\n${en}`;
}

/** Text for a refused stop command: it took effect and gets no other answer. */
export function stopAcceptedText(): string {
  return `${REPLY_TEXTS.stopTaken.zh}\n${REPLY_TEXTS.stopTaken.en}`;
}

/**
 * @returns undefined if the key is missing here; empty if the content was altered, so that the poll ends with the notice for
 * unknown replies
 */
function openContent(keyRing: KeyRing, replyId: DeliveryId, sealed: string): string | undefined {
  if (sealed === '') return '';
  const opened = tryOpen(() => keyRing.open(CONTENT_PURPOSE, replyId, sealed));
  if (opened.kind === 'key-lacking') return undefined;
  return opened.kind === 'opened' ? opened.value : '';
}
