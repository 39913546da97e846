import type { ChatPerson } from '../account.ts';
import type { Committed } from '../links/commit-link.ts';
import type { SignInFlow } from './flow.ts';

/** Why a confirmed sign-in made no link although all was in order with it. */
export type LinkConflict = Extract<Committed, { kind: 'already-linked' | 'held-elsewhere' }>;

/** Writes a conflict down, and tells the account's present holder of the attempt (SECURITY.md linked-in-one-step). */
export function reportConflict(flow: SignInFlow, person: ChatPerson, conflict: LinkConflict): void {
  const isElsewhere = conflict.kind === 'held-elsewhere';
  flow.audit('link-refused', person, isElsewhere ? 'linked-elsewhere' : 'already-linked');
  if (isElsewhere && conflict.holder) flow.tell(conflict.holder, { kind: 'account-wanted-elsewhere' });
}
