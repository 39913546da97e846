import { DAY_MS, type NowMs } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import { personKey, type ChatPerson } from '../account.ts';
import { type Account } from '../../domain/account.ts';
import type { PersonId } from '../../domain/ids.ts';
import type { Audit } from '../audit.ts';
import { createRewrapLink } from './rewrap-link.ts';
import { fieldArguments, openWho, readStoredLink, sealWho, type LinkFields, type StoredLink } from './stored-link.ts';
import { UNLINK_SHAPE } from './link-shapes.ts';
import type { RecentChanges, RecentUnlink } from './recent-changes.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Vault } from '../tokens/vault.ts';

const writeScript = loadScript(import.meta.url, '../scripts/write-link.lua', {
  keys: ['link'],
  args: ['versionField', 'version', 'writing', '...fields'],
  answer: 'flag',
});
const renewScript = loadScript(import.meta.url, '../scripts/renew-link.lua', {
  keys: ['link', 'rechecks'],
  args: ['person', 'lifeMs', 'nextCheckAtMs', 'holderPrefix'],
  answer: 'flag',
});
const unlinkScript = loadScript(import.meta.url, '../scripts/unlink.lua', UNLINK_SHAPE);

/**
 * Lifetime of a link with re-checks, renewed by each successful one. A link without re-checks expires, and the user signs in
 * again.
 */
export const CHECKED_LINK_LIFE_MS = 90 * DAY_MS;
/** A turn may be repeated for as long as its message is remembered. */
const UNLINKED_REMEMBERED_MS = DAY_MS;

const NAME_BYTES = 12;

/** The version that a conditional write checks. */
export type VersionField = 'profileVersion' | 'tokensVersion';

/** The links between chat users and accounts. All methods: @throws IdentityError `store_away` */
export interface Links {
  /** Re-encrypts fields that use an older key (SECURITY.md key-rotation). */
  read(person: PersonId): Promise<StoredLink | undefined>;
  /**
   * One read. A record that cannot be decrypted counts as no link, and the user signs in again (SECURITY.md key-rotation).
   */
  accountOf(person: ChatPerson): Promise<Account | undefined>;
  /** Language of the person's last sign-in, if there is a link. */
  languageOf(person: ChatPerson): Promise<ChatPerson['language']>;
  /** Writes only if the version is unchanged since it was read. @returns whether it was written */
  write(person: PersonId, field: VersionField, expected: number, fields: LinkFields): Promise<boolean>;
  /** Renews the link's full lifetime and schedules the next re-check. */
  renew(person: PersonId, nextCheckAtMs: number): Promise<void>;
  /**
   * Removes the link, once per message.
   * @returns whether there was a link; the same when the message is processed again
   */
  remove(person: ChatPerson, messageId: string): Promise<boolean>;
  /** Encrypts a chat user for their own link. */
  sealWho(person: ChatPerson): string;
  openWho(person: PersonId, sealed: string): OpenResult<ChatPerson>;
}

export interface LinkParts {
  store: IdentityStore;
  keyRing: KeyRing;
  vault: Vault;
  audit: Audit;
  /** Receives each link and unlink, so that they can be restored after a failover. */
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
    async languageOf(person) {
      const key = personKey(person);
      const link = await links.read(key);
      const opened = link && openWho(keyRing, key, link.who);
      return opened?.kind === 'opened' ? opened.value.language : undefined;
    },
    async write(person, field, expected, fields) {
      const args = { versionField: field, version: expected, writing: randomToken(NAME_BYTES) };
      return store.run(writeScript, { link: keys.link(person) }, { ...args, fields: fieldArguments(fields) });
    },
    async renew(person, nextCheckAtMs) {
      const names = { link: keys.link(person), rechecks: keys.rechecks() };
      const next = { nextCheckAtMs: Math.round(nextCheckAtMs), holderPrefix: keys.holder() };
      await store.run(renewScript, names, { person, lifeMs: CHECKED_LINK_LIFE_MS, ...next });
    },
    async remove(person, messageId) {
      const key = personKey(person);
      const names = {
        ...{ link: keys.link(key), rechecks: keys.rechecks() },
        ...{ outcome: keys.unlinked(messageId), changed: keys.changed(key) },
      };
      const args = { person: key, holderPrefix: keys.holder(), outcomeLifeMs: UNLINKED_REMEMBERED_MS };
      const { wasLinked, undoneAtMs } = await store.run(unlinkScript, names, args);
      const change = { person: key, who: sealWho(keyRing, person), keys: names, atMs: undoneAtMs };
      if (undoneAtMs > 0) changes.add({ kind: 'unlinked', ...change, args: { ...args, outcomeThen: wasLinked } });
      return wasLinked;
    },
    sealWho: (person) => sealWho(keyRing, person),
    openWho: (person, sealed) => openWho(keyRing, person, sealed),
  };
  return links;
}

/** Repeats an unlink that a failover lost. @returns whether the removed link was there again */
export async function restoreUnlink(store: IdentityStore, { keys: names, args, atMs }: RecentUnlink): Promise<boolean> {
  return (await store.run(unlinkScript, names, { ...args, undoneAtMs: atMs })).wasLinked;
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
  const opened = vault.open({ purpose: 'profile', person, version: profileVersion }, link.profile);
  if (opened.kind === 'opened') {
    const { id, name, identityCode, department, departmentName } = opened.value;
    return { accountId: id, name, identityCode, department, departmentName, linkedAtMs, status };
  }
  // If only the key is missing here, other processes may be able to decrypt it, so it stays unchanged.
  const isAltered = opened.kind === 'broken' && status !== 'suspended';
  if (isAltered && (await links.write(key, 'profileVersion', profileVersion, { status: 'suspended' }))) {
    audit('suspended', person, 'record-broken');
  }
  return undefined;
}
