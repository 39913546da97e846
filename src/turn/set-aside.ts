import { createLiveReply } from '../reply/live-reply.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import type { RunTurnOptions } from './run-turn.ts';
import type { TurnControls, TurnClaim, TurnCommit } from '../domain/turn.ts';

/**
 * Ends a turn of which no message can be opened, since all were altered. Where the platform polls, the person reads the
 * sentence for answers that are gone; where we post, an apology in both languages, since theirs stands in the message.
 */
export async function setAside(options: RunTurnOptions, controls: TurnControls): Promise<TurnCommit> {
  const { platforms } = options;
  const turn = controls.claim;
  const platform = turn.apologyTarget && platforms.get(turn.apologyTarget.platform);
  if (!turn.apologyTarget || !platform) return { outcome: 'dead', records: unreadableRecords(turn) };
  const live = createLiveReply({
    deps: options,
    claim: turn,
    controls: {
      signal: controls.signal,
      fenced: () => controls.fenced(),
      stopped: () => controls.stopped(),
      storeAnswer: async () => true,
      // Whoever takes over says the same: an empty answer is none.
      sealAnswer: () => '',
      isClaimHeld: () => controls.isClaimHeld(),
    },
    platform,
    deliveryId: turn.turnId,
    mergedIds: [],
    laterReplyHandle: undefined,
    replyTarget: turn.apologyTarget.replyTarget,
    language: 'en',
  });
  const { zh, en } = TURN_TEXTS.unreadable;
  const records = await live.finish(`${zh}\n${en}`);
  const { reason } = controls.signal as { reason?: unknown };
  if (reason === 'fenced' || reason === 'shutdown') throw new Error(`The apology ended early: ${reason}`);
  const others = unreadableRecords(turn).filter(({ id }) => id !== turn.turnId);
  return { outcome: 'dead', records: [...records, ...others] };
}

/** Messages that do not open end with an empty text, for which a poll gets the sentence for answers that are gone. */
export function unreadableRecords(turn: TurnClaim): TurnCommit['records'] {
  return turn.unreadable.map((id) => ({ id, fields: ['finished', '1'] }));
}
