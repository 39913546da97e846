import { setTimeout as pause } from 'node:timers/promises';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { recordWith, tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import { accountMark, appendEntry, personOf } from '../../audit/append-entry.ts';
import { readEntry, withoutPerson } from '../../audit/entry-form.ts';
import { readHolds } from '../../audit/holds.ts';
import { endLease, takeLease } from '../../audit/lease.ts';
import { AuditNames, type AuditName } from '../../audit/names.ts';
import { ALL_PARTITIONS, type GroupScope } from '../../domain/conversation.ts';
import { auditKey } from '../../domain/partition-keys.ts';
import { eraseSignIn } from '../../identity/links/people-of-account.ts';
import { eraseFound, type ErasedCounts } from './erase-found.ts';
import { scanData, type FoundData } from './scan-data.ts';
import { findPeople, subjectOfPeople, type DataOptions, type DataPerson, type DataSubject } from './subject.ts';

/** Erasures that were begun and have no proof yet, by id; encrypted. */
const ERASURES_KEY = '{audit}:erasures';
const PURPOSE = 'erasure';
const ID_BYTES = 9;
/** A further pass finds what turns that were running have stored. */
const MAX_PASSES = 6;
const PAUSE_MS = 4 * SECOND_MS;
const LEASE_PAUSE_MS = 250;
const MAX_LEASE_WAIT_MS = 30 * SECOND_MS;
const ENTRIES_A_STEP = 500;

export interface EraseAccountOptions extends DataOptions {
  groupScope: GroupScope;
  nowMs: NowMs;
}

export interface EraseRequest {
  account: string;
  /** Chat users that the administrator has named, if the account is no account of the institution. */
  people?: readonly DataPerson[];
  by: string;
}

/**
 * `not-found`: nothing is stored. `on-hold`: a legal hold forbids it. `waiting`: messages are still being answered; the command
 * must run again. `busy`: another process writes the audit record.
 */
export type EraseResult =
  | { outcome: 'erased'; id: string; subject: string; counts: ErasedCounts }
  | { outcome: 'not-found' | 'on-hold' | 'busy' }
  | { outcome: 'waiting'; count: number };

/** An erasure in progress. It remembers the people, because their links are erased first. */
interface Erasure {
  id: string;
  account: string;
  people: DataPerson[];
  startedMs: number;
  counts: ErasedCounts;
}

/**
 * Erases everything stored about an account and records a proof without content (SECURITY.md erasure). A process that is
 * killed in between leaves the erasure open: the next call finds its people again and completes it.
 */
export async function eraseAccount(options: EraseAccountOptions, request: EraseRequest): Promise<EraseResult> {
  const erasure = await openErasure(options, request);
  const subject = await subjectOfPeople(options, erasure.account, erasure.people);
  if (await isOnHold(options, subject)) return { outcome: 'on-hold' };
  await save(options, erasure);
  let waiting = 0;
  for (let pass = 1; ; pass += 1) {
    if (pass > 1 && (await isOnHold(options, subject))) return { outcome: 'on-hold' };
    waiting = await erasePass(options, erasure, subject);
    // A turn that ended during the first pass may be in a list that was read before it ended.
    if ((waiting === 0 && pass > 1) || pass === MAX_PASSES) break;
    await pause(PAUSE_MS);
  }
  if (waiting > 0) return { outcome: 'waiting', count: waiting };
  if (!(await eraseNames(options, erasure, subject))) return { outcome: 'busy' };
  return prove(options, erasure, request.by);
}

async function openErasure(options: EraseAccountOptions, { account, people = [] }: EraseRequest): Promise<Erasure> {
  const found = new Map<string, DataPerson>();
  const begun = (await openErasures(options)).find((one) => one.account === account);
  const linked = await findPeople(options, new Set([account]));
  for (const { platform, tenant, app, userId } of [...people, ...linked, ...(begun?.people ?? [])])
    found.set(personOf({ platform, tenant, app, userId }), { platform, tenant, app, userId });
  const fresh = { id: randomToken(ID_BYTES), account, startedMs: options.nowMs(), counts: {} };
  return { ...(begun ?? fresh), people: [...found.values()] };
}

async function openErasures({ redis, keyRing }: DataOptions): Promise<Erasure[]> {
  const stored = Object.entries(await redis.hgetall(ERASURES_KEY));
  return stored.flatMap(([id, sealed]) => {
    const opened = tryOpenJson(() => keyRing.open(PURPOSE, id, sealed), recordWith<Erasure>('account', 'id'));
    return opened.kind === 'opened' ? [opened.value] : [];
  });
}

async function save({ redis, keyRing }: DataOptions, erasure: Erasure): Promise<void> {
  await redis.hset(ERASURES_KEY, erasure.id, keyRing.seal(PURPOSE, erasure.id, JSON.stringify(erasure)));
}

async function isOnHold({ redis, keyRing }: DataOptions, { account, ids }: DataSubject): Promise<boolean> {
  const holds = await readHolds(redis, keyRing);
  return holds.some((hold) => hold.account === account || hold.people.some((one) => ids.has(personOf(one))));
}

/** @returns how many messages still wait for their answers */
async function erasePass(options: EraseAccountOptions, erasure: Erasure, subject: DataSubject): Promise<number> {
  for (const id of subject.ids)
    if (await eraseSignIn(options.redis, id, `erasure:${erasure.id}:${id}`)) count(erasure.counts, { links: 1 });
  await save(options, erasure);
  let waiting = 0;
  let unsaved = 0;
  const last: FoundData[] = [];
  const erase = async (found: FoundData) => {
    const { waiting: more = 0, ...counts } = await eraseFound(options, found);
    waiting += more;
    count(erasure.counts, counts);
    // A killed process counts at most the last few keys too few.
    if (++unsaved % 20 === 0) await save(options, erasure);
  };
  // The lists of conversations are erased last, because the erasure needs them if it starts again.
  for await (const found of scanData(options, subject))
    if (found.kind === 'named' && (found.name === 'chats' || found.name === 'threads')) last.push(found);
    else await erase(found);
  for (const found of last) await erase(found);
  await save(options, erasure);
  return waiting;
}

/** Removes the people from the audit record. @returns false if another process kept the right to change it */
async function eraseNames(options: EraseAccountOptions, erasure: Erasure, subject: DataSubject): Promise<boolean> {
  const { redis, keyRing } = options;
  const name = `erasure-${erasure.id}`;
  const untilMs = options.nowMs() + MAX_LEASE_WAIT_MS;
  while ((await takeLease(redis, name, true)) === undefined) {
    if (options.nowMs() >= untilMs) return false;
    await pause(LEASE_PAUSE_MS);
  }
  try {
    const names = new AuditNames(redis, keyRing);
    const found: AuditName[] = [];
    for await (const one of names.all())
      if (subject.ids.has(personOf(one.person)) || one.person.account === subject.account) found.push(one);
    const ids = new Set([...subject.ids, ...found.map(({ person }) => personOf(person))]);
    // First the streams: an entry that is moved later would create the name again.
    const entries = await Promise.all(ALL_PARTITIONS.map((partition) => eraseEntries(options, partition, ids)));
    count(erasure.counts, { auditEntries: entries.reduce((sum, one) => sum + one, 0) });
    count(erasure.counts, { auditNames: await names.remove(found) });
    await save(options, erasure);
    return true;
  } finally {
    await endLease(redis, name);
  }
}

/** Replaces the entries of these people by the same entries about no one. */
async function eraseEntries(
  { redis, keyRing }: DataOptions,
  partition: number,
  ids: ReadonlySet<string>,
): Promise<number> {
  const key = auditKey(partition);
  let changed = 0;
  for (let from = '-'; ;) {
    const rows = await redis.xrange(key, from, '+', 'COUNT', ENTRIES_A_STEP);
    for (const [id, [, text = '']] of rows) {
      const entry = readEntry(keyRing, text);
      if (!entry?.person || !ids.has(personOf(entry.person))) continue;
      await redis.multi().xdel(key, id).xadd(key, '*', 'e', withoutPerson(keyRing, entry)).exec();
      changed += 1;
    }
    const last = rows.at(-1)?.[0];
    if (last === undefined || rows.length < ENTRIES_A_STEP) return changed;
    from = `(${last}`;
  }
}

async function prove(options: EraseAccountOptions, erasure: Erasure, by: string): Promise<EraseResult> {
  const { redis, keyRing, nowMs } = options;
  const { id, account, startedMs } = erasure;
  const counts = Object.fromEntries(Object.entries(erasure.counts).filter(([, one]) => one > 0));
  const isNothing = Object.keys(counts).length === 0;
  const subject = accountMark(keyRing, account);
  if (!isNothing) {
    const details = { erasure: id, subject, by, startedAt: new Date(startedMs).toISOString(), ...counts };
    // Without its person, and before the erasure is closed: a process killed in between records the proof twice.
    await appendEntry(redis, keyRing, { atMs: nowMs(), class: 'admin', event: 'erased', details });
  }
  await redis.hdel(ERASURES_KEY, id);
  return isNothing ? { outcome: 'not-found' } : { outcome: 'erased', id, subject, counts };
}

function count(counts: ErasedCounts, more: ErasedCounts): void {
  for (const [name, value] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + value;
}
