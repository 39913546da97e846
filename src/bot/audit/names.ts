import { keyIdOf, type KeyRing } from '../../shared/crypto/key-ring.ts';
import { freshBytes } from '../../shared/crypto/random-pool.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { AuditPerson } from '../domain/audit-entry.ts';
import type { PersonId } from '../domain/ids.ts';
import { personOf } from './append-entry.ts';
import { openPerson, sealPerson, type ReadEntry } from './entry-form.ts';

/** Hash: the encrypted person of each pseudonym. */
const NAMES_KEY = '{audit}:names';
/** Hash: the pseudonym of each person, by keyed hash. */
const PSEUDONYMS_KEY = '{audit}:pseudonyms';
/** Sorted set: pseudonyms by last entry. */
const SEEN_KEY = '{audit}:seen';
const PSEUDONYM_BYTES = 8;
const NAMES_A_STEP = 500;

/** A pseudonym of the files, and the person whom it stands for. */
export interface AuditName {
  pseudonym: string;
  person: AuditPerson;
}

/**
 * The people of the audit files. The files contain random pseudonyms only; this store resolves them with SECRET_KEY. Once a
 * person's name is removed here, no key and no list of people leads from the files to that person (SECURITY.md erasure).
 * Writers must have the lease.
 */
export class AuditNames {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** The pseudonyms of the people of these entries; missing ones are created. Remembers the newest account of each. */
  async pseudonymsOf(entries: readonly ReadEntry[], nowMs: number): Promise<ReadonlyMap<ReadEntry, string>> {
    const named = new Map<ReadEntry, string>();
    const byId = new Map<PersonId, { person: AuditPerson; who: string; entries: ReadEntry[] }>();
    for (const entry of entries) {
      const { person, who = '' } = entry;
      if (!person) continue;
      const id = personOf(person);
      const known = byId.get(id);
      if (!known) byId.set(id, { person, who, entries: [entry] });
      else {
        known.entries.push(entry);
        if (person.account !== undefined) Object.assign(known, { person, who });
      }
    }
    if (byId.size === 0) return named;
    const macs = [...byId.keys()].map((id) => this.#macsOf(id));
    const known = await this.#redis.hmget(PSEUDONYMS_KEY, ...macs.flat());
    const width = this.#keyRing.keyIds.length;
    const found = macs.map((_, at) => known.slice(at * width, (at + 1) * width).find((one) => one !== null));
    const stored = await this.#redis.hmget(NAMES_KEY, ...found.map((one) => one ?? '-'));
    // One command for all people: hundreds of small ones would take as long as writing the files.
    const [pseudonyms, seen, names]: [string[], (string | number)[], string[]] = [[], [], []];
    for (const [at, { person, who, entries: own }] of [...byId.values()].entries()) {
      const pseudonym = found[at] ?? `p-${freshBytes(PSEUDONYM_BYTES).toString('hex')}`;
      const sealed = stored[at] ?? undefined;
      const before = sealed === undefined ? undefined : openPerson(this.#keyRing, sealed);
      for (const entry of own) named.set(entry, pseudonym);
      pseudonyms.push(macs[at]?.[0] ?? '', pseudonym);
      seen.push(nowMs, pseudonym);
      if (!before || (person.account !== undefined && person.account !== before.account))
        names.push(pseudonym, this.#withCurrentKey(who, person));
    }
    const steps = this.#redis
      .multi()
      .hset(PSEUDONYMS_KEY, ...pseudonyms)
      .zadd(SEEN_KEY, ...seen);
    if (names.length > 0) steps.hset(NAMES_KEY, ...names);
    await steps.exec();
    return named;
  }

  #withCurrentKey(sealed: string, person: AuditPerson): string {
    return keyIdOf(sealed) === this.#keyRing.currentKeyId ? sealed : sealPerson(this.#keyRing, person);
  }

  /** All people whose pseudonyms can be resolved. */
  async *all(): AsyncGenerator<AuditName> {
    for await (const [pseudonym, sealed] of this.#stored()) {
      const person = openPerson(this.#keyRing, sealed);
      if (person) yield { pseudonym, person };
    }
  }

  /** From now on no one can tell whom these pseudonyms stand for. @returns how many could be resolved before */
  async remove(names: readonly AuditName[]): Promise<number> {
    if (names.length === 0) return 0;
    const macs = names.flatMap(({ person }) => this.#macsOf(personOf(person)));
    const pseudonyms = names.map(({ pseudonym }) => pseudonym);
    const steps = this.#redis
      .multi()
      .hdel(PSEUDONYMS_KEY, ...macs)
      .zrem(SEEN_KEY, ...pseudonyms);
    await steps.hdel(NAMES_KEY, ...pseudonyms).exec();
    return names.length;
  }

  /** Removes the names of people without an entry since then. */
  async removeUnseen(sinceMs: number, isKept: (person: PersonId) => boolean): Promise<void> {
    const unseen = new Set(await this.#redis.zrangebyscore(SEEN_KEY, '-inf', sinceMs));
    if (unseen.size === 0) return;
    const names: AuditName[] = [];
    for await (const name of this.all())
      if (unseen.has(name.pseudonym) && !isKept(personOf(name.person))) names.push(name);
    await this.remove(names);
  }

  /** Encrypts all names with the newest key (SECURITY.md key-rotation). */
  async rewrap(): Promise<void> {
    if (this.#keyRing.keyIds.length < 2) return;
    for await (const [pseudonym, sealed] of this.#stored()) {
      if (keyIdOf(sealed) === this.#keyRing.currentKeyId) continue;
      const person = openPerson(this.#keyRing, sealed);
      if (!person) continue;
      const [mac = ''] = this.#macsOf(personOf(person));
      const steps = this.#redis.multi().hset(NAMES_KEY, pseudonym, sealPerson(this.#keyRing, person));
      await steps.hset(PSEUDONYMS_KEY, mac, pseudonym).exec();
    }
  }

  async *#stored(): AsyncGenerator<[pseudonym: string, sealed: string]> {
    let cursor = '0';
    do {
      const [next, fields] = await this.#redis.hscan(NAMES_KEY, cursor, 'COUNT', NAMES_A_STEP);
      cursor = next;
      for (let at = 0; at < fields.length; at += 2) yield [fields[at] ?? '', fields[at + 1] ?? ''];
    } while (cursor !== '0');
  }

  /** One for each key of the ring, newest first. */
  #macsOf(person: PersonId): string[] {
    return this.#keyRing.pseudonyms('audit-names', person);
  }
}
