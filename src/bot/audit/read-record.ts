import { join } from 'node:path';
import { parseJson } from '../../shared/parse-json.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { AUDIT_CLASSES, type AuditPerson } from '../domain/audit-entry.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import { auditKey } from '../domain/partition-keys.ts';
import { filesOf } from './audit-files.ts';
import { readEntry } from './entry-form.ts';
import { linesOf } from './lines-of.ts';
import { AuditNames } from './names.ts';

const ENTRIES_A_STEP = 500;

/** An entry with the name of its person, as far as it can be resolved. */
export type ShownEntry = Readonly<Record<string, unknown>> & { at: string; event: string };

export interface RecordFilter {
  account: string | undefined;
  /** The account's mark in entries of administrators' acts, as the subject or as the one who acted. */
  mark: string | undefined;
  sinceMs: number;
}

/** Reads the files, class by class, and then what waits in the streams. Files are not verified here. */
export async function* readRecord(
  options: { redis: RedisClient; keyRing: KeyRing; directory: string | undefined },
  filter: RecordFilter,
): AsyncGenerator<ShownEntry> {
  const { redis, keyRing, directory } = options;
  const people = new Map<string, AuditPerson>();
  for await (const { pseudonym, person } of new AuditNames(redis, keyRing).all()) people.set(pseudonym, person);
  const isMeant = (entry: ShownEntry, person: AuditPerson | undefined) =>
    Date.parse(entry.at) >= filter.sinceMs &&
    (filter.account === undefined ||
      person?.account === filter.account ||
      (filter.mark !== undefined && [entry['subject'], entry['by']].includes(filter.mark)));
  for (const kind of directory === undefined ? [] : AUDIT_CLASSES) {
    for (const file of await filesOf(directory ?? '', kind)) {
      for await (const line of linesOf(join(directory ?? '', file))) {
        const { hash: _hash, ...entry } = (parseJson(line) ?? {}) as ShownEntry & { hash?: string };
        if (typeof entry.event !== 'string') continue;
        const person = people.get(String(entry['person']));
        if (isMeant(entry, person)) yield { ...entry, who: person };
      }
    }
  }
  for (const partition of ALL_PARTITIONS) {
    for (let from = '-'; ;) {
      const rows = await redis.xrange(auditKey(partition), from, '+', 'COUNT', ENTRIES_A_STEP);
      for (const [, [, text = '']] of rows) {
        const read = readEntry(keyRing, text);
        if (!read) continue;
        const entry = { at: new Date(read.atMs).toISOString(), event: read.event, ...read.details };
        if (isMeant(entry, read.person)) yield { ...entry, who: read.person };
      }
      const last = rows.at(-1)?.[0];
      if (last === undefined || rows.length < ENTRIES_A_STEP) break;
      from = `(${last}`;
    }
  }
}
