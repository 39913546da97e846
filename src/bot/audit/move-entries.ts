import { readFile } from 'node:fs/promises';
import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { AUDIT_CLASSES, type AuditClass } from '../domain/audit-entry.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import type { PersonId } from '../domain/ids.ts';
import { auditKey } from '../domain/partition-keys.ts';
import { personOf } from './append-entry.ts';
import { AuditFiles } from './audit-files.ts';
import { readEntry, type ReadEntry } from './entry-form.ts';
import { readHolds } from './holds.ts';
import { endLease, readPositions, savePositions, takeLease } from './lease.ts';
import { AuditNames } from './names.ts';

/** Maximum entries of a partition in one step; bounds memory and the time of a step. */
const ENTRIES_A_STEP = 200;
const NAME_BYTES = 12;

/** Retention of each class, in days. */
export type AuditDays = Readonly<Record<AuditClass, number>>;

export interface MoveOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  /** Undefined: the streams are the record. */
  directory: string | undefined;
  days: AuditDays;
  nowMs: NowMs;
}

interface StreamEntry {
  id: string;
  entry: ReadEntry | undefined;
}

/**
 * Moves entries from the streams into the files, one process at a time, and deletes what is older than its retention. A
 * process that dies in between leaves the entries in the streams: the next one cuts off what was not recorded and moves them
 * again, so that each entry is in the files exactly once.
 */
export class MoveEntries {
  readonly #options: MoveOptions;
  readonly #names: AuditNames;
  readonly #name = randomToken(NAME_BYTES);
  #lease: { epoch: number; files: AuditFiles | undefined; moved: Map<number, string> } | undefined;
  #cleanedOn = '';

  constructor(options: MoveOptions) {
    this.#options = options;
    this.#names = new AuditNames(options.redis, options.keyRing);
  }

  /** One pass over all partitions. Does nothing while another process has the lease. @returns how many entries were moved */
  async run(): Promise<number> {
    const { redis, directory, nowMs } = this.#options;
    const epoch = await takeLease(redis, this.#name);
    if (epoch === undefined) {
      this.#lease = undefined;
      return 0;
    }
    if (this.#lease?.epoch !== epoch) await this.#begin(epoch);
    const day = dayOf(nowMs());
    try {
      let count = 0;
      for (let step = -1; directory !== undefined && step !== 0; count += step) step = await this.#moveSome(day);
      if (!this.#isHolder() || this.#cleanedOn === day) return count;
      await this.#deleteExpired();
      this.#cleanedOn = day;
      return count;
    } catch (error) {
      // What was written but not recorded is cut off at the next pass.
      this.#lease = undefined;
      throw error;
    }
  }

  /** Lets another process go on at once. */
  async close(): Promise<void> {
    if (!this.#lease) return;
    this.#lease = undefined;
    await endLease(this.#options.redis, this.#name);
  }

  /** The lease may have ended during a step. */
  #isHolder(): boolean {
    return this.#lease !== undefined;
  }

  async #begin(epoch: number): Promise<void> {
    const { redis, keyRing, directory } = this.#options;
    const positions = await readPositions(redis);
    const moved = new Map(ALL_PARTITIONS.map((partition) => [partition, positions[movedField(partition)] ?? '0-0']));
    const files = directory === undefined ? undefined : await AuditFiles.open(directory, keyRing, { epoch, positions });
    await this.#names.rewrap();
    if (directory !== undefined)
      await Promise.all([...moved].map(([partition, last]) => this.#deleteMoved(partition, last)));
    this.#lease = { epoch, files, moved };
  }

  /** Entries that a process moved and was killed before it deleted them here. */
  async #deleteMoved(partition: number, last: string): Promise<void> {
    const { redis } = this.#options;
    for (;;) {
      const rows = await redis.xrange(auditKey(partition), '-', last, 'COUNT', ENTRIES_A_STEP);
      if (rows.length === 0) return;
      await redis.xdel(auditKey(partition), ...rows.map(([id]) => id));
    }
  }

  async #moveSome(day: string): Promise<number> {
    const { redis, nowMs } = this.#options;
    const { epoch, files, moved } = this.#lease!;
    const read = async (partition: number) => this.#read(partition, `(${moved.get(partition) ?? '0-0'}`);
    const found = await Promise.all(ALL_PARTITIONS.map(read));
    const entries = found.flat().flatMap(({ entry }) => entry ?? []);
    if (!files || found.every((some) => some.length === 0)) return 0;
    const pseudonyms = await this.#names.pseudonymsOf(entries, nowMs());
    // Renewed right before the files are written: the batch above may have taken long.
    if ((await takeLease(redis, this.#name)) !== epoch) {
      this.#lease = undefined;
      return 0;
    }
    const positions: Record<string, string> = {};
    files.begin();
    try {
      for (const kind of AUDIT_CLASSES) {
        const ofKind = entries.filter((entry) => entry.class === kind);
        const records = ofKind.map((entry) => recordOf(entry, pseudonyms.get(entry)));
        if (records.length > 0) Object.assign(positions, await files.append(kind, records, day));
      }
    } catch (error) {
      // On a full disk nothing can be set aside at the next pass.
      await files.takeBack();
      throw error;
    }
    for (const [partition, some] of found.entries()) {
      const last = some.at(-1)?.id;
      if (last !== undefined) positions[movedField(partition)] = last;
    }
    if (!(await savePositions(redis, epoch, positions))) throw new Error('The lease of the audit files has ended');
    await Promise.all(
      found.map(async (some, partition) => {
        const last = some.at(-1)?.id;
        if (last === undefined) return;
        moved.set(partition, last);
        await redis.xdel(auditKey(partition), ...some.map(({ id }) => id));
      }),
    );
    return found.flat().length;
  }

  async #read(partition: number, from: string): Promise<StreamEntry[]> {
    const { redis, keyRing } = this.#options;
    const rows = await redis.xrange(auditKey(partition), from, '+', 'COUNT', ENTRIES_A_STEP);
    return rows.map(([id, [, text = '']]) => ({ id, entry: readEntry(keyRing, text) }));
  }

  async #deleteExpired(): Promise<void> {
    const { redis, keyRing, days, nowMs } = this.#options;
    const { epoch, files } = this.#lease!;
    const held = new Set((await readHolds(redis, keyRing)).flatMap(({ people }) => people.map(personOf)));
    const pseudonyms: string[] = [];
    if (held.size > 0)
      for await (const { pseudonym, person } of this.#names.all())
        if (held.has(personOf(person))) pseudonyms.push(pseudonym);
    const isKept = async (path: string) => {
      if (pseudonyms.length === 0) return false;
      const text = await readFile(path, 'utf8');
      return pseudonyms.some((one) => text.includes(one));
    };
    for (const kind of AUDIT_CLASSES) {
      const expired = await files?.expired(kind, dayOf(nowMs() - days[kind] * DAY_MS), isKept);
      if (!expired || Object.keys(expired.positions).length === 0) continue;
      if (await savePositions(redis, epoch, expired.positions)) await expired.remove();
    }
    if (!files) await Promise.all(ALL_PARTITIONS.map((partition) => this.#trim(partition, held)));
    const maxDays = Math.max(...Object.values(days));
    await this.#names.removeUnseen(nowMs() - maxDays * DAY_MS, (person) => held.has(person));
  }

  /** Where there are no files, deletes expired entries from the stream itself. */
  async #trim(partition: number, held: ReadonlySet<PersonId>): Promise<void> {
    const { redis, days, nowMs } = this.#options;
    let from = '-';
    for (;;) {
      const some = await this.#read(partition, from);
      const isOver = ({ entry }: StreamEntry) =>
        entry === undefined ||
        (entry.atMs < nowMs() - days[entry.class] * DAY_MS && !(entry.person && held.has(personOf(entry.person))));
      const expired = some.filter(isOver).map(({ id }) => id);
      if (expired.length > 0) await redis.xdel(auditKey(partition), ...expired);
      const last = some.at(-1)?.id;
      if (last === undefined || some.length < ENTRIES_A_STEP) return;
      from = `(${last}`;
    }
  }
}

/** An entry as a line of a file, without its hash. */
function recordOf({ atMs, event, details }: ReadEntry, pseudonym: string | undefined): object {
  return { at: new Date(atMs).toISOString(), event, person: pseudonym, ...details };
}

function movedField(partition: number): string {
  return `moved:${partition}`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
