import { DAY_MS, type NowMs } from '../../../shared/clock.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import type { ChatPerson, ReleaseHandler, NotifyPerson } from '../account.ts';
import type { Audit } from '../audit.ts';
import { restoreLink } from './commit-link.ts';
import { restoreUnlink, type Links } from './links.ts';
import type { RecentChange } from './recent-changes.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { PersonId } from '../../domain/ids.ts';

const AT_ONCE = 100;

export interface BringBackParts {
  store: IdentityStore;
  links: Links;
  audit: Audit;
  nowMs: NowMs;
  tell: NotifyPerson;
  release: ReleaseHandler;
}

/**
 * Restores the links and unlinks of this process that a failover lost. For each person the latest change wins, by Redis'
 * clock, even over changes restored by other processes or made since; an unlinked account stays unlinked. Unlinks are
 * restored first, so that a removed link is never active in between.
 * @throws IdentityError `store_away`
 */
export async function restoreRecentChanges(parts: BringBackParts, changes: RecentChange[]): Promise<void> {
  const kinds: RecentChange['kind'][] = ['unlinked', 'linked'];
  for (const kind of kinds) {
    const due = changes.filter((change) => change.kind === kind);
    while (due.length > 0) {
      const some = due.splice(0, AT_ONCE);
      await Promise.all(some.map((change) => bringBackOne(parts, change)));
    }
  }
}

async function bringBackOne(parts: BringBackParts, change: RecentChange): Promise<void> {
  const { store, links, audit, nowMs } = parts;
  const who = links.openWho(change.person, change.who);
  // If it cannot be decrypted, the change is still restored, but not audited by name and not notified.
  const person = who.kind === 'opened' ? who.value : undefined;
  if (change.kind === 'unlinked') {
    if ((await restoreUnlink(store, change)) && person) audit('unlinked-again', person);
    return;
  }
  const made = await restoreLink(store, change, nowMs());
  if (made.kind === 'linked') {
    if (person) audit('linked-again', person);
    for (const release of made.releases) parts.release(release);
  }
  if (made.kind === 'held-elsewhere' && person) await tellLost(parts, change.person, person);
}

/** Another chat account is now linked to the account. The user is told and decides what to do. */
async function tellLost({ store, audit, tell }: BringBackParts, key: PersonId, person: ChatPerson): Promise<void> {
  if (!(await store.withDeadline((redis) => tryAcquire(redis, keys.notified(key, 'sign-in-lost'), DAY_MS)))) return;
  audit('link-lost', person, 'linked-elsewhere');
  tell(person, { kind: 'sign-in-lost' });
}
