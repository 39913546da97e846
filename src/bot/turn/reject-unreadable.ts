import { localize, type Language } from '../../shared/text/texts.ts';
import { messageFields } from '../domain/message-record.ts';
import { referenceOf } from '../domain/turn-trace.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { platformForTenant } from '../platforms/of-tenant.ts';
import type { Platform } from '../platforms/platform.ts';
import { createLiveReply } from '../reply/create-live-reply.ts';
import type { SharedReplyOptions } from '../reply/live-reply.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import type { TurnControls, TurnClaim, TurnCommit } from '../domain/turn.ts';

/**
 * Ends a turn whose messages were all altered and cannot be decrypted. Where the platform polls, the person gets the text
 * for unavailable answers; otherwise Parley posts an apology in both languages, because the person's language is in the
 * message.
 */
export type RejectUnreadable = (controls: TurnControls) => Promise<TurnCommit>;

export interface RejectUnreadableOptions {
  platforms: ReadonlyMap<PlatformName, Platform>;
  reply: SharedReplyOptions;
}

export function createRejectUnreadable({ platforms, reply }: RejectUnreadableOptions): RejectUnreadable {
  return (controls) => rejectUnreadable(platforms, reply, controls);
}

async function rejectUnreadable(
  platforms: RejectUnreadableOptions['platforms'],
  deps: SharedReplyOptions,
  controls: TurnControls,
): Promise<TurnCommit> {
  const turn = controls.claim;
  const platform =
    turn.apologyTarget && platformForTenant(platforms.get(turn.apologyTarget.platform), turn.apologyTarget.tenant);
  if (!turn.apologyTarget || !platform) return { outcome: 'dead', records: unreadableRecords(turn) };
  const live = createLiveReply({
    deps,
    claim: turn,
    controls: {
      signal: controls.signal,
      fenced: () => controls.fenced(),
      stopped: () => controls.stopped(),
      storeAnswer: async () => true,
      // A worker that takes over posts the same apology: an empty text counts as no answer.
      sealAnswer: () => '',
      isClaimHeld: () => controls.isClaimHeld(),
      waitIdle: (wait) => controls.waitIdle(wait),
    },
    platform,
    deliveryId: turn.turnId,
    mergedIds: [],
    laterReplyHandle: undefined,
    replyTarget: turn.apologyTarget.replyTarget,
    language: 'en',
  });
  turn.trace.note('c', 'dead');
  const reference = referenceOf(turn.turnId);
  const tell = (language: Language) => localize(TURN_TEXTS.unreadable, language, { reference });
  const records = await live.finish(`${tell('zh')}\n${tell('en')}`);
  const { reason } = controls.signal as { reason?: unknown };
  if (reason === 'fenced' || reason === 'shutdown') throw new Error(`The apology ended early: ${reason}`);
  const others = unreadableRecords(turn).filter(({ id }) => id !== turn.turnId);
  return { outcome: 'dead', records: [...records, ...others] };
}

/** Unreadable messages end with an empty text, for which a poll returns the text for unavailable answers. */
export function unreadableRecords(turn: TurnClaim): TurnCommit['records'] {
  return turn.unreadable.map((id) => ({ id, fields: messageFields({ finished: '1' }) }));
}
