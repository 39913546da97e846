import { sayTo } from './say-to.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import { setAside, unreadableRecords } from './set-aside.ts';
import type { TurnControls, TurnClaim, TurnCommit } from '../domain/turn.ts';

import { openTurn } from './open-turn.ts';
import type { RunTurnOptions } from './run-turn.ts';

/** The visible apology for a turn that is given up (SECURITY.md poison-turns). */
export function createApology(options: RunTurnOptions): (turn: TurnClaim) => Promise<TurnCommit> {
  return async (turn) => {
    const controls: TurnControls = {
      claim: turn,
      signal: AbortSignal.any([]),
      pressure: () => 'none',
      fenced: () => undefined,
      stopped: () => undefined,
      storeAnswer: async () => true,
      // What is said instead of an answer is not worth keeping: an empty one is none.
      sealAnswer: () => '',
      isClaimHeld: () => false,
      yieldToHeld: async () => undefined,
    };
    const opened = openTurn(options, controls);
    if (!opened) return setAside(options, controls);
    const { context } = opened;
    const records = await context.live.finish(sayTo(context, TURN_TEXTS.deadLetter));
    return { outcome: 'dead', records: [...records, ...unreadableRecords(turn)] };
  };
}
