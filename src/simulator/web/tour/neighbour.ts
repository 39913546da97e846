import type { PersonView } from '../../api.ts';

/** Under which address a tab is this person. */
export function addressOf(personId: string): string {
  return `/?person=${encodeURIComponent(personId)}`;
}

/** Whom to open beside a person: the next in the directory. */
export function neighbourOf(people: readonly PersonView[], personId: string): PersonView | undefined {
  const at = people.findIndex(({ id }) => id === personId);
  const next = people[(at + 1) % people.length];
  return next?.id === personId ? undefined : next;
}
