import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** How long and how much tools may take (SECURITY.md tool-rights, input-limits). */
export interface ToolLimits {
  /** Rounds in which the model may call tools; it is then asked once more without any. */
  rounds: number;
  /** Calls of one round that run; the model is told that further ones did not. */
  callsARound: number;
  callMs: number;
  /** From the first call on; later rounds go without tools. */
  turnMs: number;
  /** Estimated tokens of one result, and of all results of a turn. */
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
