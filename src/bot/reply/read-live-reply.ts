import { messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { AnswerOf, ScriptShape } from '../../shared/redis/script-shape.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PulledReply } from '../domain/reply.ts';
import { asDeliveryId, type DeliveryId, type PersonId } from '../domain/ids.ts';
import { finalOffers, growingOffers } from './actions.ts';
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
  /** Which replies that nobody knows may still turn up; none unless told. */
  missing?: MissingReplies;
  /** Told of each poll that shows an answer which is whole: the platform asks for it no more. */
  onSeen?(deliveryId: DeliveryId): void;
}

export interface PolledReply {
  partition: number;
  deliveryId: DeliveryId;
  /** Who polls; only the message's own sender is answered. */
  personId: PersonId;
  /**
   * A delivery that came again is answered with what there is. Whether that answer arrives is not known, so nothing is decided
   * by it, whereas a poll shows that the platform knows of the reply and will ask again.
   */
  isRepeat?: boolean;
}

/** An answer that is shown in an older message is told to its worker so long before that message's live time is over. */
const HANDOVER_NOTICE_MS = 10 * SECOND_MS;

/**
 * What a live reply looks like now, for the platform's poll; one round trip, any process. An unknown reply, or another
 * person's, is answered as ended with a sentence, so that no client waits for ever: at once, or when it has not turned up. A message that was merged into a newer
 * one's answer shows that answer itself when the platform never polls the newer one.
 */
export async function readLiveReply(options: ReadLiveReplyOptions, polled: PolledReply): Promise<PulledReply> {
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
  if (!isKnown && options.missing?.mayTurnUp(replyId)) return { replyId, content: '', finished: false };
  if (!isKnown) return { replyId, content: REPLY_TEXTS.unknownReply.en, finished: true };

  if (found.state === 'limited') return { replyId, content: tooManyMessages(), finished: true };
  if (found.elsewhere) return { replyId, content: REPLY_TEXTS.answeredAbove.en, finished: true };
  const content = openContent(options.keyRing, asDeliveryId(found.contentId), found.content);
  // Whoever has the key answers another poll: in a change of keys some receivers have it already, or still.
  if (content === undefined && !found.handedOver) return { replyId, content: '', finished: false };
  if (found.whole && !found.handedOver && polled.isRepeat !== true) options.onSeen?.(replyId);
  return { ...lookOf(replyId, content ?? '', found), offers: offersOf(found) };
}

/** They name the message that is answered, wherever its answer is shown. */
function offersOf({ offers, contentId, finished }: Pick<Polled, 'offers' | 'contentId' | 'finished'>) {
  if (offers === '') return undefined;
  const answered = {
    deliveryId: asDeliveryId(contentId),
    language: offers === 'zh' ? ('zh' as const) : ('en' as const),
  };
  const atEnd = finalOffers(answered, ['retry']);
  return finished ? atEnd : { ...growingOffers(answered), retry: atEnd?.retry };
}

function lookOf(
  replyId: DeliveryId,
  content: string,
  { finished, handedOver, later, keep }: Pick<Polled, 'finished' | 'handedOver' | 'later' | 'keep'>,
): PulledReply {
  if (finished) return { replyId, content: content === '' ? REPLY_TEXTS.unknownReply.en : content, finished: true };
  if (!handedOver) return { replyId, content, finished: false };
  const notice = later ? REPLY_TEXTS.followsBelow.en : REPLY_TEXTS.tookTooLong.en;
  return { replyId, content: keep && content !== '' ? content : notice, finished: true };
}

/** What a person reads whose messages came too fast; in both languages, since the message was not looked into. */
export function tooManyMessages(): string {
  return `${REPLY_TEXTS.tooMany.zh}\n${REPLY_TEXTS.tooMany.en}`;
}

/** What a person reads whose stop came among too many messages: it acted, and waits for no answer of its own. */
export function stopTaken(): string {
  return `${REPLY_TEXTS.stopTaken.zh}\n${REPLY_TEXTS.stopTaken.en}`;
}

/** @returns undefined for what another key sealed; empty for what was altered: the poll ends with the sentence for replies that are gone */
function openContent(keyRing: KeyRing, replyId: DeliveryId, sealed: string): string | undefined {
  if (sealed === '') return '';
  const opened = tryOpen(() => keyRing.open(CONTENT_PURPOSE, replyId, sealed));
  if (opened.kind === 'key-lacking') return undefined;
  return opened.kind === 'opened' ? opened.value : '';
}
