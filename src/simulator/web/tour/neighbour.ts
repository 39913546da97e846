import type { PersonView } from '../../api.ts';

/** Address of a tab for this person. */
export function addressOf(personId: string): string {
  return `/?person=${encodeURIComponent(personId)}`;
}

/** The person to open in a second tab: the next in the directory with an account that can chat. */
export function neighbourOf(people: readonly PersonView[], personId: string): PersonView | undefined {
  const company = people.filter(({ id, isInactive }) => id === personId || isInactive !== true);
  const at = company.findIndex(({ id }) => id === personId);
  const next = company[(at + 1) % company.length];
  return next?.id === personId ? undefined : next;
}
