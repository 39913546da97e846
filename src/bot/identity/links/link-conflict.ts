import type { ChatPerson, Tell } from '../account.ts';
import type { Audit } from '../audit.ts';
import type { Committed } from './commit-link.ts';

/** Why a confirmed sign-in made no link although all was in order with it. */
export type LinkConflict = Extract<Committed, { kind: 'already-linked' | 'held-elsewhere' }>;

/** Writes a conflict down, and tells the account's present holder of the attempt (SECURITY.md linked-in-one-step). */
export function reportConflict(
  { audit, tell }: { audit: Audit; tell: Tell },
  person: ChatPerson,
  conflict: LinkConflict,
): void {
  const isElsewhere = conflict.kind === 'held-elsewhere';
  audit('link-refused', person, isElsewhere ? 'linked-elsewhere' : 'already-linked');
  if (isElsewhere && conflict.holder) tell(conflict.holder, { kind: 'account-wanted-elsewhere' });
}
