import { DAY_MS, type NowMs } from '../../base/clock.ts';
import { randomToken } from '../../base/ids.ts';
import { SealError, type KeyRing } from '../../base/key-ring.ts';
import { loadScript } from '../../base/lua-script.ts';
import { personKey, type ChatPerson } from '../account.ts';
import { type Account } from '../../domain/account.ts';
import type { Audit } from '../audit.ts';
import { createRewrapLink } from './rewrap-link.ts';
import { fieldArguments, openWho, readStoredLink, sealWho, type LinkFields, type StoredLink } from './stored-link.ts';
import type { RecentChange, RecentChanges } from './recent-changes.ts';
import { CHANGED_LIFE_MS, keys, type IdentityStore } from '../store.ts';
import type { Vault } from '../tokens/vault.ts';

const writeScript = loadScript(import.meta.url, '../scripts/write-link.lua');
const renewScript = loadScript(import.meta.url, '../scripts/renew-link.lua');
const unlinkScript = loadScript(import.meta.url, '../scripts/unlink.lua', { CHANGED_LIFE_MS });

/** A link that is re-checked lives on with each success; one that cannot be re-checked ends, and the person signs in again. */
export const CHECKED_LINK_LIFE_MS = 90 * DAY_MS;
export const UNCHECKED_LINK_LIFE_MS = 30 * DAY_MS;
/** A turn may run again for as long as its message is remembered. */
const UNLINKED_REMEMBERED_MS = DAY_MS;

/** Of unlink.lua, from 0: when it was undone before, and what came of it then. */
const UNDONE_AT_ARGUMENT = 3;

const NAME_BYTES = 12;

/** Which version a conditional write is about. */
export type VersionField = 'profileVersion' | 'tokensVersion';

/** The links between chat persons and accounts. All methods: @throws IdentityError `store_away` */
export interface Links {
  /** What is sealed with an older key is sealed anew on the way (SECURITY.md key-rotation). */
  read(person: string): Promise<StoredLink | undefined>;
  /** One read. A record that does not open counts as no link: the person signs in again (SECURITY.md key-rotation). */
  accountOf(person: ChatPerson): Promise<Account | undefined>;
  /** Writes only if the version is still what the writer read. @returns whether it was written */
  write(person: string, field: VersionField, expected: number, fields: LinkFields): Promise<boolean>;
  /** Full life and the next re-check. */
  renew(person: string, nextCheckAtMs: number): Promise<void>;
  /** Once for each message, whose outcome is remembered. @returns whether there was a link */
  remove(person: ChatPerson, messageId: string): Promise<boolean>;
  /** Seals a chat person into its own link. */
  sealWho(person: ChatPerson): string;
  /** @throws SealError */
  openWho(person: string, sealed: string): ChatPerson;
}

export interface LinkParts {
  store: IdentityStore;
  keyRing: KeyRing;
  vault: Vault;
  audit: Audit;
  /** Gets what was linked and undone, so that it can be written again after a failover. */
  changes: RecentChanges;
  nowMs: NowMs;
}

export function createLinks(parts: LinkParts): Links {
  const { store, keyRing, changes } = parts;
  const rewrapLink = createRewrapLink(parts);
  const links: Links = {
    async read(person) {
      const link = readStoredLink(await store.withDeadline((redis) => redis.hgetall(keys.link(person))));
      return link && rewrapLink(person, link);
    },
    accountOf: (person) => readAccount(links, parts, person),
    async write(person, field, expected, fields) {
      const args = [field, expected, randomToken(NAME_BYTES), ...fieldArguments(fields)];
      return (await store.run(writeScript, [keys.link(person)], args)) === 1;
    },
    async renew(person, nextCheckAtMs) {
      const args = [person, CHECKED_LINK_LIFE_MS, Math.round(nextCheckAtMs), keys.holder()];
      await store.run(renewScript, [keys.link(person), keys.rechecks()], args);
    },
    async remove(person, messageId) {
      const key = personKey(person);
      const names = [keys.link(key), keys.rechecks(), keys.unlinked(messageId), keys.changed(key)];
      const args = [key, keys.holder(), UNLINKED_REMEMBERED_MS, ''];
      const [wasLinked, atMs] = (await store.run(unlinkScript, names, args)) as [number, number];
      const change = { person: key, who: sealWho(keyRing, person), keys: names, args: [...args, wasLinked], atMs };
      if (atMs > 0) changes.keep({ kind: 'unlinked', ...change });
      return wasLinked === 1;
    },
    sealWho: (person) => sealWho(keyRing, person),
    openWho: (person, sealed) => openWho(keyRing, person, sealed),
  };
  return links;
}

/** Writes again after a failover what `remove` wrote. @returns whether a link was there that had been undone */
export async function unlinkAgain(store: IdentityStore, { keys: names, args, atMs }: RecentChange): Promise<boolean> {
  const [wasLinked] = (await store.run(unlinkScript, names, args.with(UNDONE_AT_ARGUMENT, atMs))) as [number];
  return wasLinked === 1;
}

async function readAccount(
  links: Links,
  { vault, audit }: LinkParts,
  person: ChatPerson,
): Promise<Account | undefined> {
  const key = personKey(person);
  const link = await links.read(key);
  if (!link) return undefined;
  const { profileVersion, status, linkedAtMs } = link;
  try {
    const profile = vault.open({ purpose: 'profile', person, version: profileVersion }, link.profile);
    const { id, name, identityCode, department, departmentName } = profile;
    return { accountId: id, name, identityCode, department, departmentName, linkedAtMs, status };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const isAltered = error.code === 'seal_broken' && status !== 'suspended';
    if (isAltered && (await links.write(key, 'profileVersion', profileVersion, { status: 'suspended' }))) {
      audit('suspended', person, 'record-broken');
    }
    return undefined;
  }
}
