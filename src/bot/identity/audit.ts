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
  /** The user declined at the sign-in service. */
  | 'link-declined'
  | 'linked'
  | 'unlinked'
  /** Restored after a failover had lost it. */
  | 'linked-again'
  | 'unlinked-again'
  /** A failover lost a link and it could not be restored. The user is notified. */
  | 'link-lost'
  | 'suspended'
  | 'sign-in-again';

/** Why a link was refused or suspended. A small set, usable as a metric label. */
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

/** Metrics of the identity module, implemented by the composition root. */
export interface IdentityReport {
  /** Number of records per encryption key. An older key with 0 may be removed (SECURITY.md key-rotation). */
  sealedRecords(counts: ReadonlyMap<string, number>): void;
  /** `person` is for the audit record only, which stores it encrypted; never a label. */
  event(event: IdentityEvent, labels: { platform: PlatformName; reason?: IdentityReason }, person: ChatPerson): void;
}

/** Writes an event's audit line and increments its counter, so that both always agree. Persons appear as keyed hashes. */
export type Audit = (event: IdentityEvent, person: ChatPerson, reason?: IdentityReason) => void;

export function createAudit(log: Log, keyRing: KeyRing, report: IdentityReport): Audit {
  return (event, person, reason) => {
    const { platform } = person;
    log.info({ audit: true, event, platform, person: pseudonymOf(keyRing, person), reason }, 'identity');
    report.event(event, reason ? { platform, reason } : { platform }, person);
  };
}

/** The keyed hash under which a person appears in logs (SECURITY.md scrubbed-logs). */
export function pseudonymOf(keyRing: KeyRing, person: PersonOwner & { chatUserId: string }): string {
  return hmacHex(keyRing.deriveKey('log-pseudonym'), personKey(person)).slice(0, 16);
}
