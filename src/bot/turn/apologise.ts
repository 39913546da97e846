import { referenceOf } from '../domain/turn-trace.ts';
import { translate } from './translate.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import { unreadableRecords, type RejectUnreadable } from './reject-unreadable.ts';
import type { TurnControls, TurnClaim, TurnCommit } from '../domain/turn.ts';

import type { OpenTurn } from './open-turn.ts';

export interface ApologyOptions {
  openTurn: OpenTurn;
  rejectUnreadable: RejectUnreadable;
}

/** The visible apology for a turn that is given up (SECURITY.md poison-turns). */
export function createApology({
  openTurn,
  rejectUnreadable,
}: ApologyOptions): (turn: TurnClaim) => Promise<TurnCommit> {
  return async (turn) => {
    const controls: TurnControls = {
      claim: turn,
      signal: AbortSignal.any([]),
      pressure: () => 'none',
      fenced: () => undefined,
      stopped: () => undefined,
      storeAnswer: async () => true,
      // An apology is not worth storing as an answer: an empty text counts as none.
      sealAnswer: () => '',
      isClaimHeld: () => false,
      confirmClaim: () => undefined,
      waitIdle: (wait) => wait(),
      yieldToHeld: async () => undefined,
    };
    turn.trace.note('c', 'dead');
    const opened = openTurn(controls);
    if (!opened) return rejectUnreadable(controls);
    const { context } = opened;
    const records = await context.live.finish(
      translate(context, TURN_TEXTS.deadLetter, { reference: referenceOf(turn.turnId) }),
    );
    return { outcome: 'dead', records: [...records, ...unreadableRecords(turn)] };
  };
}
