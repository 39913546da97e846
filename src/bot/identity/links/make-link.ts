import type { NowMs } from '../../../shared/clock.ts';
import type { ReleaseHandler, NotifyPerson } from '../account.ts';
import type { Audit } from '../audit.ts';
import { maskId } from '../mask-id.ts';
import type { CommitResult, CommitLink, CommitRequest } from './commit-link.ts';
import { reportConflict } from './link-conflict.ts';

/**
 * Creates the link of a confirmed sign-in and notifies everyone concerned.
 * @throws IdentityError `store_away`; notifications then follow later
 */
export type MakeLink = (confirmed: CommitRequest) => Promise<CommitResult>;

export interface MakeLinkParts {
  commit: CommitLink;
  audit: Audit;
  tell: NotifyPerson;
  release: ReleaseHandler;
  nowMs: NowMs;
}

export function createMakeLink(parts: MakeLinkParts): MakeLink {
  return async (confirmed) => {
    // The link may have been created although the browser was told that Redis is unavailable.
    const committed = await parts.commit(confirmed, (late) => tellOutcome(parts, confirmed, late));
    tellOutcome(parts, confirmed, committed);
    return committed;
  };
}

function tellOutcome(parts: MakeLinkParts, { invitation, signedIn }: CommitRequest, committed: CommitResult): void {
  const { audit, tell, release, nowMs } = parts;
  const { person } = invitation;
  const { id, name } = signedIn.profile;
  if (committed.kind === 'linked') {
    audit('linked', person);
    for (const freed of committed.releases) release(freed);
    tell(person, { kind: 'linked', name, maskedId: maskId(id), atMs: nowMs() });
  } else if (committed.kind !== 'linked-before' && committed.kind !== 'gone') {
    reportConflict(parts, person, committed);
  }
}
