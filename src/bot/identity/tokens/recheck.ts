import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { ChatPerson } from '../account.ts';
import type { AccessTokens } from './access-token.ts';
import { accountKeyOf } from '../links/commit-link.ts';
import { IdentityError, isIdentityError } from '../identity-error.ts';
import type { Profile } from '../oauth/profile-response.ts';
import { dropTokens } from './refresh-token.ts';
import type { HeldLink, TokenParts } from './held-tokens.ts';
import { keys } from '../store.ts';
import type { LinkFields, StoredLink } from '../links/stored-link.ts';
import { asPersonId, type PersonId } from '../../domain/ids.ts';

const claimScript = loadScript(import.meta.url, '../scripts/claim-rechecks.lua', {
  keys: ['rechecks'],
  args: ['nowMs', 'claimedUntilMs', 'limit'],
  answer: 'texts',
});

const RECHECK_CLAIM_LIFE_MS = 10 * MINUTE_MS;
const CHECK_EVERY_MS = DAY_MS;
const RETRY_AFTER_MS = HOUR_MS;
/**
 * How long a link remains valid while the sign-in service does not respond or its key is missing (SECURITY.md daily-check).
 */
const GRACE_MS = 72 * HOUR_MS;
/**
 * Concurrent checks. A check (a refresh and a profile read) takes at most 10 s; this many at once handle a day's users in an
 * hour.
 */
const AT_ONCE = 5;

export interface RecheckParts extends Omit<TokenParts, 'keepTokens' | 'log'> {
  keyRing: KeyRing;
  accessTokens: Pick<AccessTokens, 'current'>;
}

/**
 * Re-checks users whose last check is a day old. An inactive account or a different id suspends the link immediately.
 * @param limit maximum users per call
 * @returns how many were checked; if equal to `limit`, more may be due
 * @throws IdentityError `store_away`
 */
export async function recheckDue(parts: RecheckParts, limit: number): Promise<number> {
  const { store, nowMs } = parts;
  const args = { nowMs: nowMs(), claimedUntilMs: nowMs() + RECHECK_CLAIM_LIFE_MS + Math.random(), limit };
  const due = await store.run(claimScript, { rechecks: keys.rechecks() }, args);
  const queue = due.map(asPersonId);
  const work = async () => {
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) await recheckOne(parts, key);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return due.length;
}

async function recheckOne(parts: RecheckParts, key: PersonId): Promise<void> {
  const { links, store } = parts;
  const link = await links.read(key);
  const person = link && openWho(parts, key, link);
  if (link && isLocked(parts, link)) return leaveToOthers(parts, key, person, link);
  if (!link || !person || link.tokens === '') {
    await store.withDeadline((redis) => redis.zrem(keys.rechecks(), key));
    return;
  }
  const checked = { key, person, link };
  try {
    const profile = await readProfileNow(parts, person);
    const isSame = accountKeyOf(person, profile.id) === link.accountKey;
    await (isSame ? confirmLink(parts, checked, profile) : suspend(parts, checked, 'inactive'));
  } catch (error) {
    if (isIdentityError(error, 'profile_unfit')) return suspend(parts, checked, 'inactive');
    if (isIdentityError(error, 'store_away')) throw error;
    // Usually the tokens are already deleted. If they could not be decrypted, they are deleted now, because a link must not
    // remain unchecked.
    if (isIdentityError(error, 'sign_in_again')) await dropTokens(parts, checked, 'record-broken');
    else await postpone(parts, checked, 'service-unreachable');
  }
}

/** Whether the check lacks a key that it needs. Corrupt records do not count. */
function isLocked({ keyRing }: RecheckParts, { who, profile, tokens }: StoredLink): boolean {
  return [who, profile, tokens].some((sealed) => keyRing.lacksKeyOf(sealed));
}

/**
 * During a key rotation another process has the key and can check the link after this claim expires. If no process has it,
 * the link is suspended after the grace time. A link whose person cannot be decrypted grants nothing here.
 */
async function leaveToOthers(
  parts: RecheckParts,
  key: PersonId,
  person: ChatPerson | undefined,
  link: StoredLink,
): Promise<void> {
  if (person) await postpone(parts, { key, person, link }, 'key-lacking');
}

/** A corrupt link is not checked again. A link without its key is left to other processes (`isLocked`). */
function openWho({ links }: RecheckParts, key: PersonId, { who }: StoredLink): ChatPerson | undefined {
  const opened = links.openWho(key, who);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** A 401 is authoritative: the token is then refreshed once and the call repeated once (SECURITY.md expiry-unit). */
async function readProfileNow({ accessTokens, dialect }: RecheckParts, person: ChatPerson): Promise<Profile> {
  const token = await accessTokens.current(person, { forcesRefresh: dialect.checksByRenewal });
  const first = await dialect.profile(token);
  if (first !== 'token-refused') return first;
  const second = await dialect.profile(await accessTokens.current(person, { rejected: token.accessToken }));
  if (second !== 'token-refused') return second;
  throw new IdentityError('service_refused', 'A token was refused right after its renewal');
}

async function confirmLink(
  { links, vault, nowMs }: RecheckParts,
  { key, person, link }: HeldLink,
  profile: Profile,
): Promise<void> {
  const version = link.profileVersion + 1;
  await links.write(key, 'profileVersion', link.profileVersion, {
    profile: vault.seal({ purpose: 'profile', person, version }, profile),
    profileVersion: version,
    status: 'active',
    unreachableSinceMs: 0,
  });
  // Up to a tenth earlier, to spread the checks of users who signed in together.
  await links.renew(key, nowMs() + CHECK_EVERY_MS * (1 - Math.random() / 10));
}

async function suspend(parts: RecheckParts, { key, person, link }: HeldLink, reason: 'inactive'): Promise<void> {
  const { links, store, audit, tell, nowMs } = parts;
  // Higher than any version so far, so that a refresh in progress cannot write tokens to a suspended link.
  const tokensVersion = Math.max(nowMs(), link.tokensVersion + 1);
  const fields: LinkFields = { status: 'suspended', tokens: '', tokensVersion, refreshAtMs: 0 };
  if (await links.write(key, 'profileVersion', link.profileVersion, fields)) {
    audit('suspended', person, reason);
    if (link.status !== 'suspended') tell(person, { kind: 'suspended' });
  }
  await store.withDeadline((redis) => redis.zrem(keys.rechecks(), key));
}

/** The check failed. After the grace time the link is suspended until a check succeeds. */
async function postpone(
  { links, nowMs, store, audit, tell }: RecheckParts,
  { key, person, link }: HeldLink,
  reason: 'service-unreachable' | 'key-lacking',
): Promise<void> {
  const unreachableSinceMs = link.unreachableSinceMs || nowMs();
  const isOver = nowMs() - unreachableSinceMs >= GRACE_MS;
  const fields: LinkFields = isOver ? { unreachableSinceMs, status: 'suspended' } : { unreachableSinceMs };
  const isWritten = await links.write(key, 'profileVersion', link.profileVersion, fields);
  if (isWritten && isOver && link.status !== 'suspended') {
    audit('suspended', person, reason);
    tell(person, { kind: 'suspended' });
  }
  await store.withDeadline((redis) => redis.zadd(keys.rechecks(), 'XX', nowMs() + RETRY_AFTER_MS, key));
}
