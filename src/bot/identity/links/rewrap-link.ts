import { keyIdOf, type KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { isIdentityError } from '../identity-error.ts';
import { keys, type IdentityStore } from '../store.ts';
import { openWho, sealWho, type StoredLink } from './stored-link.ts';
import type { Vault } from '../tokens/vault.ts';
import type { PersonId } from '../../domain/ids.ts';

const rewrapScript = loadScript(import.meta.url, '../scripts/rewrap-link.lua', {
  keys: ['link'],
  args: ['...replacements'],
  answer: 'texts',
});

const SEALED_FIELDS = ['who', 'profile', 'tokens'] as const;
type SealedField = (typeof SEALED_FIELDS)[number];

export interface RewrapParts {
  store: IdentityStore;
  keyRing: KeyRing;
  vault: Vault;
}

/** The ids of the keys needed to decrypt a link. */
export function keyIdsOf(link: StoredLink): string[] {
  return SEALED_FIELDS.flatMap((field) => (link[field] === '' ? [] : [keyIdOf(link[field])]));
}

/**
 * Re-encrypts with the newest key the fields of a link that use an older one (SECURITY.md key-rotation). Content and
 * versions stay the same, so concurrent writers are not disturbed, and a value written in the meantime is preserved. Fields
 * that cannot be decrypted stay unchanged. If Redis is unavailable, nothing changes and the next reader tries again.
 * @returns the link with the replaced fields
 */
export function createRewrapLink({ store, keyRing, vault }: RewrapParts) {
  return async (key: PersonId, link: StoredLink): Promise<StoredLink> => {
    const old = SEALED_FIELDS.filter((field) => link[field] !== '' && keyIdOf(link[field]) !== keyRing.currentKeyId);
    if (old.length === 0) return link;
    const sealedAnew = old.flatMap((field) => rewrapField({ keyRing, vault }, { key, link, field }));
    if (sealedAnew.length === 0) return link;
    const replacements = sealedAnew.flatMap(({ field, value }) => [field, link[field], value]);
    try {
      const replaced = await store.run(rewrapScript, { link: keys.link(key) }, { replacements });
      const values = sealedAnew.filter(({ field }) => replaced.includes(field));
      return { ...link, ...Object.fromEntries(values.map(({ field, value }) => [field, value])) };
    } catch (error) {
      if (isIdentityError(error, 'store_away')) return link;
      throw error;
    }
  };
}

function rewrapField(
  { keyRing, vault }: Pick<RewrapParts, 'keyRing' | 'vault'>,
  { key, link, field }: { key: PersonId; link: StoredLink; field: SealedField },
): { field: SealedField; value: string }[] {
  const who = openWho(keyRing, key, link.who);
  if (who.kind !== 'opened') return [];
  const person = who.value;
  if (field === 'who') return [{ field, value: sealWho(keyRing, person) }];
  const version = field === 'profile' ? link.profileVersion : link.tokensVersion;
  const rewrapped = vault.rewrap({ purpose: field, person, version }, link[field]);
  return rewrapped.kind === 'opened' ? [{ field, value: rewrapped.value }] : [];
}
