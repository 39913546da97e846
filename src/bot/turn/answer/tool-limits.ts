import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** Time and size limits of tools (SECURITY.md tool-rights, input-limits). */
export interface ToolLimits {
  /** Maximum rounds in which the model may call tools; afterwards it is called once more without tools. */
  rounds: number;
  /** Maximum calls per round; the model is told that further calls did not run. */
  callsARound: number;
  callMs: number;
  /** Measured from the first call. Later rounds run without tools. */
  turnMs: number;
  /** Maximum estimated tokens of one result, and of all results of a turn. */
  resultTokens: number;
  turnTokens: number;
}

export const TOOL_LIMITS: ToolLimits = {
  rounds: 5,
  callsARound: 8,
  callMs: 10 * SECOND_MS,
  turnMs: MINUTE_MS,
  resultTokens: 4_000,
  turnTokens: 12_000,
};
