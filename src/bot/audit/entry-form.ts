import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import { parseJson } from '../../shared/parse-json.ts';
import { AUDIT_CLASSES, type AuditClass, type AuditEntry, type AuditPerson } from '../domain/audit-entry.ts';

const PERSON_PURPOSE = 'audit-person';
const OWNER = 'audit';

/** An entry as the streams store it. The person is encrypted; everything else identifies no one. */
interface StoredEntry {
  atMs: number;
  class: AuditClass;
  event: string;
  who?: string;
  details: AuditEntry['details'];
}

/** An entry that was read from a stream. */
export interface ReadEntry extends AuditEntry {
  /** The encrypted person, as stored. */
  who?: string;
}

/** Writes an entry for a stream. */
export function writeEntry(keyRing: KeyRing, { person, ...entry }: AuditEntry): string {
  const stored: StoredEntry = { ...entry, who: person && sealPerson(keyRing, person) };
  return JSON.stringify(stored);
}

/**
 * Reads an entry of a stream. Without the key, or if the person was altered, the entry has no person. Undefined for
 * something that is not an entry.
 */
export function readEntry(keyRing: KeyRing, text: string): ReadEntry | undefined {
  const stored = parseJson(text);
  if (!isStored(stored)) return undefined;
  return { ...stored, person: stored.who === undefined ? undefined : openPerson(keyRing, stored.who) };
}

/** The same entry about no one, after the person was erased. */
export function withoutPerson(keyRing: KeyRing, entry: AuditEntry): string {
  return writeEntry(keyRing, { ...entry, person: undefined, details: { ...entry.details, person: 'erased' } });
}

export function sealPerson(keyRing: KeyRing, person: AuditPerson): string {
  return keyRing.seal(PERSON_PURPOSE, OWNER, JSON.stringify(person));
}

/** Undefined if the key is missing or the value was altered. */
export function openPerson(keyRing: KeyRing, sealed: string): AuditPerson | undefined {
  const read = recordWith<AuditPerson>('platform', 'tenant', 'app', 'userId');
  const opened = tryOpenJson(() => keyRing.open(PERSON_PURPOSE, OWNER, sealed), read);
  return opened.kind === 'opened' ? opened.value : undefined;
}

function isStored(value: unknown): value is StoredEntry {
  const entry = recordWith<StoredEntry>('event', 'class')(value);
  if (!entry || typeof entry.atMs !== 'number' || typeof entry.details !== 'object') return false;
  return AUDIT_CLASSES.includes(entry.class) && (entry.who === undefined || typeof entry.who === 'string');
}
