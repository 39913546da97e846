import type { ChatPerson, NotifyPerson } from '../account.ts';
import type { Audit } from '../audit.ts';
import type { CommitResult } from './commit-link.ts';

/** The two outcomes in which a valid sign-in cannot create a link. */
export type LinkConflict = Extract<CommitResult, { kind: 'already-linked' | 'held-elsewhere' }>;

/** Audits a conflict and notifies the account's current holder of the attempt (SECURITY.md linked-in-one-step). */
export function reportConflict(
  { audit, tell }: { audit: Audit; tell: NotifyPerson },
  person: ChatPerson,
  conflict: LinkConflict,
): void {
  const isElsewhere = conflict.kind === 'held-elsewhere';
  audit('link-refused', person, isElsewhere ? 'linked-elsewhere' : 'already-linked');
  if (isElsewhere && conflict.holder) tell(conflict.holder, { kind: 'account-wanted-elsewhere' });
}
