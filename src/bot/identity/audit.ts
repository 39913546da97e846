import { hmacHex } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { personKey, type ChatPerson, type PersonOwner } from './account.ts';

/** The events of the audit trail (SECURITY.md audit-trail). */
export type IdentityEvent =
  | 'link-asked'
  | 'link-started'
  | 'link-refused'
  | 'link-cancelled'
  /** At the sign-in service: the person chose not to share who they are. */
  | 'link-declined'
  | 'linked'
  | 'unlinked'
  /** Once more, after a failover had taken it back. */
  | 'linked-again'
  | 'unlinked-again'
  /** A failover took a link back, and it could not be made again; the person is told. */
  | 'link-lost'
  | 'suspended'
  | 'sign-in-again';

/** Why a link was refused or suspended: a small set, fit for a counter's label. */
export type IdentityReason =
  | 'other-chat-account'
  | 'other-account'
  | 'id-unverifiable'
  | 'profile'
  | 'linked-elsewhere'
  | 'already-linked'
  | 'wrong-codes'
  | 'code-in-group'
  | 'code-of-another'
  | 'service-unreachable'
  | 'key-lacking'
  | 'inactive'
  | 'record-broken'
  | 'token-refused';

/** Counts what happens in this room; the composition root gives the metrics. */
export interface IdentityReport {
  /** What each key of the ring is still needed for; an older key at 0 may go (SECURITY.md key-rotation). */
  sealedRecords(counts: ReadonlyMap<string, number>): void;
  event(event: IdentityEvent, labels: { platform: PlatformName; reason?: IdentityReason }): void;
}

/** Writes an event's audit line and its counter together, so that they cannot drift apart. Persons appear as keyed hashes. */
export type Audit = (event: IdentityEvent, person: ChatPerson, reason?: IdentityReason) => void;

export function createAudit(log: Log, keyRing: KeyRing, report: IdentityReport): Audit {
  return (event, person, reason) => {
    const { platform } = person;
    log.info({ audit: true, event, platform, person: pseudonymOf(keyRing, person), reason }, 'identity');
    report.event(event, reason ? { platform, reason } : { platform });
  };
}

/** The keyed hash under which a person appears in logs (SECURITY.md scrubbed-logs). */
export function pseudonymOf(keyRing: KeyRing, person: PersonOwner & { chatUserId: string }): string {
  return hmacHex(keyRing.deriveKey('log-pseudonym'), personKey(person)).slice(0, 16);
}
