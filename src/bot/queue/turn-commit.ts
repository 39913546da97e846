import type { TurnCommit } from '../domain/turn.ts';

/** Whether follow-up messages are due after the commit. */
export function hasFollowUp({ records }: TurnCommit): boolean {
  return records.some(({ followUp }) => followUp !== undefined);
}
