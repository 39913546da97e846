import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import { parseJson } from '../../shared/parse-json.ts';
import { RecentValues } from '../../shared/recent-values.ts';
import { AUDIT_CLASSES, type AuditClass, type AuditEntry, type AuditPerson } from '../domain/audit-entry.ts';

const PERSON_PURPOSE = 'audit-person';
const OWNER = 'audit';
/** Maximum people that a process remembers, in each direction; below 6 MB. */
const MAX_REMEMBERED = 8_192;

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
export function writeEntry(keyRing: KeyRing, entry: AuditEntry): string {
  const { atMs, event, person, details } = entry;
  const who = person && sealPerson(keyRing, person);
  const stored: StoredEntry = { atMs, class: entry.class, event, details, who };
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

/** Encrypts a person, with the newest key. Entries of one person often have the same text, which shows no more than a pseudonym. */
export function sealPerson(keyRing: KeyRing, person: AuditPerson): string {
  const { sealed, opened } = rememberedBy(keyRing);
  const plain = JSON.stringify(person);
  const known = sealed.get(plain);
  if (known !== undefined) return known;
  const text = keyRing.seal(PERSON_PURPOSE, OWNER, plain);
  sealed.set(plain, text);
  opened.set(text, person);
  return text;
}

/** Undefined if the key is missing or the value was altered. */
export function openPerson(keyRing: KeyRing, sealed: string): Readonly<AuditPerson> | undefined {
  const { opened } = rememberedBy(keyRing);
  const known = opened.get(sealed);
  if (known) return known;
  const read = recordWith<AuditPerson>('platform', 'tenant', 'app', 'userId');
  const result = tryOpenJson(() => keyRing.open(PERSON_PURPOSE, OWNER, sealed), read);
  if (result.kind !== 'opened') return undefined;
  opened.set(sealed, result.value);
  return result.value;
}

/** People of recent entries: encrypting and decrypting them again would be most of the cost of an entry. */
interface Remembered {
  /** By person as JSON. */
  sealed: RecentValues<string>;
  opened: RecentValues<Readonly<AuditPerson>>;
}

const remembered = new WeakMap<KeyRing, Remembered>();

function rememberedBy(keyRing: KeyRing): Remembered {
  let known = remembered.get(keyRing);
  if (!known) {
    known = { sealed: new RecentValues(MAX_REMEMBERED), opened: new RecentValues(MAX_REMEMBERED) };
    remembered.set(keyRing, known);
  }
  return known;
}

function isStored(value: unknown): value is StoredEntry {
  const entry = recordWith<StoredEntry>('event', 'class')(value);
  if (!entry || typeof entry.atMs !== 'number' || typeof entry.details !== 'object') return false;
  return AUDIT_CLASSES.includes(entry.class) && (entry.who === undefined || typeof entry.who === 'string');
}
