import type { TurnCommit } from '../domain/turn.ts';

/** Whether something is to follow the answer once it is committed. */
export function hasFollowUp({ records }: TurnCommit): boolean {
  return records.some(({ followUp }) => followUp !== undefined);
}
