import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { ChatPerson } from '../account.ts';
import { asPersonId, type PersonId } from '../../domain/ids.ts';
import { keys } from '../store.ts';
import { createVault } from '../tokens/vault.ts';
import { openWho, readStoredLink } from './stored-link.ts';
import { UNLINK_SHAPE } from './link-shapes.ts';

const scanScript = loadScript(import.meta.url, '../scripts/scan-links.lua', {
  keys: ['sameSlot'],
  args: ['cursor', 'pattern', 'count'],
  answer: { cursor: 'text', names: 'texts' },
});
const unlinkScript = loadScript(import.meta.url, '../scripts/unlink.lua', UNLINK_SHAPE);
const KEYS_A_STEP = 500;
const NOTICES = ['sign-in-lost', 'sign-in-again', 'suspended'] as const;

/** A chat user who is linked to an account. */
export interface LinkedPerson extends ChatPerson {
  account: string;
}

/**
 * All chat users who are linked to the accounts. Reads every link, so only for administrators.
 * @throws any error of the Redis connection
 */
export async function peopleOfAccounts(
  redis: RedisClient,
  keyRing: KeyRing,
  accounts: ReadonlySet<string>,
): Promise<LinkedPerson[]> {
  const vault = createVault(keyRing);
  const found: LinkedPerson[] = [];
  let cursor = '0';
  do {
    const args = { cursor, pattern: `${keys.link()}*`, count: KEYS_A_STEP };
    const step = await scanScript.run(redis, { sameSlot: keys.rechecks() }, args);
    cursor = step.cursor;
    for (const name of step.names) {
      const link = readStoredLink(await redis.hgetall(name));
      const who = link && openWho(keyRing, asPersonId(name.slice(keys.link().length)), link.who);
      if (who?.kind !== 'opened') continue;
      const person = who.value;
      const profile = vault.open(
        { purpose: 'profile', person, version: link?.profileVersion ?? 0 },
        link?.profile ?? '',
      );
      if (profile.kind === 'opened' && accounts.has(profile.value.id))
        found.push({ ...person, account: profile.value.id });
    }
  } while (cursor !== '0');
  return found;
}

/**
 * Deletes the link of a person with its tokens, and what an invitation in progress has stored. The time of the change remains
 * for a day, so that a failover does not restore the link. Safe to repeat.
 * @param call unique name of the erasure
 * @returns whether there was a link
 */
export async function eraseSignIn(redis: RedisClient, person: PersonId, call: string): Promise<boolean> {
  const outcome = keys.unlinked(call);
  const names = { link: keys.link(person), rechecks: keys.rechecks(), outcome, changed: keys.changed(person) };
  const wasThere = (await redis.exists(names.link)) === 1;
  await redis.del(outcome);
  await unlinkScript.run(redis, names, { person, holderPrefix: keys.holder(), outcomeLifeMs: 1 });
  const ticket = await redis.get(keys.liveInvitation(person));
  const rest = [keys.minted(person), keys.waiting(person), keys.typed(person), keys.refreshLock(person)];
  const told = NOTICES.map((kind) => keys.notified(person, kind));
  const invitation = ticket === null ? [] : [keys.invitation(ticket)];
  await redis.del(keys.liveInvitation(person), ...invitation, ...rest, ...told);
  return wasThere;
}
