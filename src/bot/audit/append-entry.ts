import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { MAX_AUDIT_ENTRIES, type AuditEntry, type AuditPerson } from '../domain/audit-entry.ts';
import { ALL_PARTITIONS, personIdOf } from '../domain/conversation.ts';
import { auditKey } from '../domain/partition-keys.ts';
import type { PersonId } from '../domain/ids.ts';
import { writeEntry } from './entry-form.ts';

/**
 * Appends an entry that belongs to no turn: a step of a sign-in, or what an administrator does. The entries of a turn are
 * part of its commit. @throws any error of the Redis connection
 */
export async function appendEntry(redis: RedisClient, keyRing: KeyRing, entry: AuditEntry): Promise<void> {
  const partition = entry.person ? partitionOf(personOf(entry.person)) : 0;
  const text = writeEntry(keyRing, entry);
  await redis.xadd(auditKey(partition), 'MAXLEN', '~', MAX_AUDIT_ENTRIES, '*', 'e', text);
}

/** Keyed hash of an account, as entries name it: only a holder of SECRET_KEY who knows the account can match it. */
export function accountMark(keyRing: KeyRing, account: string): string {
  return keyRing.pseudonym('audit-account', account);
}

/** The pseudonym under which the person's other records are stored. */
export function personOf({ platform, tenant, app, userId }: AuditPerson): PersonId {
  return personIdOf({ platform, tenant, app }, userId);
}

function partitionOf(person: PersonId): number {
  return Number.parseInt(person.slice(0, 8), 16) % ALL_PARTITIONS.length;
}
