import type { PersonView } from '../../api.ts';

/** Address of a tab for this person. */
export function addressOf(personId: string): string {
  return `/?person=${encodeURIComponent(personId)}`;
}

/** The person to open in a second tab: the next in the directory. */
export function neighbourOf(people: readonly PersonView[], personId: string): PersonView | undefined {
  const at = people.findIndex(({ id }) => id === personId);
  const next = people[(at + 1) % people.length];
  return next?.id === personId ? undefined : next;
}
