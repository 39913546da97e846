import { createHash } from 'node:crypto';
import { MINUTE_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { hashParts, randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { OAuthError } from './sign-in-errors.ts';
import type { Store } from './store.ts';

/** A code is usable for 10 seconds. */
export const CODE_LIFE_MS = 10 * SECOND_MS;
/** Kept longer than it lives: the injected clock decides, and a late exchange is told apart from an unknown code. */
const CODE_KEPT_MS = 5 * MINUTE_MS;

const exchangeScript = loadScript(import.meta.url, './scripts/exchange-code.lua', {
  keys: ['code', 'grant', 'accessToken', 'refreshToken'],
  args: [
    ...(['nowMs', 'codeLifeMs', 'clientId', 'redirectUri', 'challenge', 'grantId'] as const),
    ...(['accessExpiresAtMs', 'refreshExpiresAtMs', 'accessKeptMs', 'refreshKeptMs', 'grantKeptMs'] as const),
  ],
  answer: { outcome: 'text', person: 'text' },
});

/** What a person agreed to. */
export interface Consent {
  username: string;
  clientId: string;
  redirectUri: string;
  scope: string;
  /** PKCE S256 challenge; undefined when the client sent none. */
  challenge: string | undefined;
}

/** What tokens stand for. */
export interface Grant {
  username: string;
  clientId: string;
  scope: string;
}

export interface CodeExchange {
  code: string;
  clientId: string;
  redirectUri: string;
  verifier: string | undefined;
}

export interface GrantsOptions {
  store: Store;
  accessTokenSec: number;
  refreshTokenSec: number;
  /** Whether the person is still in the directory; nobody else gets tokens. */
  isKnown: (username: string) => boolean | Promise<boolean>;
  nowMs: NowMs;
}

interface FoundGrant extends Grant {
  grantId: string;
}

/** Codes, tokens and what they stand for. Redis holds only their SHA-256, each with a time to live, and the person sealed. */
export class Grants {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Makes a new code. @throws StoreError */
  async issueCode({ username, clientId, redirectUri, scope, challenge }: Consent): Promise<string> {
    const { store, nowMs } = this.#options;
    const code = randomToken();
    const grantId = sha256Hex(code);
    const key = store.key('code', grantId);
    const list = this.#listKey(username, clientId);
    const person = store.seal(store.key('grant', grantId), username);
    const record = { issuedAtMs: nowMs(), person, clientId, redirectUri, scope, challenge: challenge ?? '' };
    const endsAtMs = nowMs() + CODE_KEPT_MS + this.#grantKeptMs();
    await store.use((redis) =>
      redis
        .multi()
        .hset(key, record)
        .pexpire(key, CODE_KEPT_MS)
        .zremrangebyscore(list, '-inf', nowMs())
        .zadd(list, endsAtMs, grantId)
        .pexpire(list, endsAtMs - nowMs())
        .exec(),
    );
    return code;
  }

  /**
   * Turns a code into tokens, once (RFC 6749 section 4.1.3, RFC 7636 section 4.6).
   * @throws OAuthError `invalid_grant`; StoreError
   */
  async exchange({
    code,
    clientId,
    redirectUri,
    verifier,
  }: CodeExchange): Promise<{ accessToken: string; refreshToken: string }> {
    const { store, accessTokenSec, refreshTokenSec, nowMs, isKnown } = this.#options;
    const tokens = { accessToken: randomToken(), refreshToken: randomToken() };
    const grantId = sha256Hex(code);
    const grantKey = store.key('grant', grantId);
    const keys = {
      code: store.key('code', grantId),
      grant: grantKey,
      accessToken: store.key('access', sha256Hex(tokens.accessToken)),
      refreshToken: store.key('refresh', sha256Hex(tokens.refreshToken)),
    };
    const now = nowMs();
    const challenge = verifier === undefined ? '' : createHash('sha256').update(verifier).digest('base64url');
    const args = {
      ...{ nowMs: now, codeLifeMs: CODE_LIFE_MS, clientId, redirectUri, challenge, grantId },
      accessExpiresAtMs: now + accessTokenSec * SECOND_MS,
      refreshExpiresAtMs: now + refreshTokenSec * SECOND_MS,
      accessKeptMs: keptMs(accessTokenSec),
      refreshKeptMs: keptMs(refreshTokenSec),
      grantKeptMs: this.#grantKeptMs(),
    };
    const { outcome, person } = await store.use((redis) => exchangeScript.run(redis, keys, args));
    if (outcome !== 'ok') throw new OAuthError('invalid_grant', REFUSALS[outcome] ?? 'The code cannot be used');
    const username = store.open(grantKey, person);
    if (username === undefined || !(await isKnown(username))) {
      await store.use((redis) => redis.del(grantKey));
      throw new OAuthError('invalid_grant', PERSON_GONE);
    }
    return tokens;
  }

  /** A new access token for a refresh token, which stays as it is. @throws OAuthError `invalid_grant`; StoreError */
  async refresh(refreshToken: string, clientId: string): Promise<{ accessToken: string; scope: string }> {
    const { store, accessTokenSec, nowMs, isKnown } = this.#options;
    const found = await this.#find('refresh', refreshToken);
    if (found?.clientId !== clientId)
      throw new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked');
    if (!(await isKnown(found.username))) throw new OAuthError('invalid_grant', PERSON_GONE);
    const accessToken = randomToken();
    const key = store.key('access', sha256Hex(accessToken));
    const record = { grant: found.grantId, expiresAtMs: nowMs() + accessTokenSec * SECOND_MS };
    await store.use((redis) => redis.multi().hset(key, record).pexpire(key, keptMs(accessTokenSec)).exec());
    return { accessToken, scope: found.scope };
  }

  /** What an access token stands for; undefined when it is unknown, expired or revoked. @throws StoreError */
  async findByAccessToken(accessToken: string): Promise<Grant | undefined> {
    return this.#find('access', accessToken);
  }

  /** Revokes every code and token that a person's agreement gave to a client. @throws StoreError */
  async revokeAll(username: string, clientId: string): Promise<void> {
    const { store } = this.#options;
    const list = this.#listKey(username, clientId);
    const ids = await store.use((redis) => redis.zrange(list, '0', '-1'));
    if (ids.length === 0) return;
    const keys = ids.flatMap((id) => [store.key('code', id), store.key('grant', id)]);
    // What is issued meanwhile stays on the list.
    await store.use((redis) =>
      redis
        .multi()
        .del(...keys)
        .zrem(list, ...ids)
        .exec(),
    );
  }

  async #find(kind: 'access' | 'refresh', token: string): Promise<FoundGrant | undefined> {
    const { store, nowMs } = this.#options;
    const { grant: grantId, expiresAtMs } = await store.use((redis) =>
      redis.hgetall(store.key(kind, sha256Hex(token))),
    );
    if (grantId === undefined || !(nowMs() < Number(expiresAtMs))) return undefined;
    const grantKey = store.key('grant', grantId);
    const { person, clientId, scope } = await store.use((redis) => redis.hgetall(grantKey));
    const username = person === undefined ? undefined : store.open(grantKey, person);
    if (username === undefined || clientId === undefined || scope === undefined) return undefined;
    return { grantId, username, clientId, scope };
  }

  /** Sorted set of the grants that a person gave to a client, by when they end; found without a look-up when consent is withdrawn. */
  #listKey(username: string, clientId: string): string {
    return this.#options.store.key('grants', hashParts(username, clientId));
  }

  /** An access token that is made at the very end of a refresh token's life outlives it. */
  #grantKeptMs(): number {
    return keptMs(this.#options.refreshTokenSec + this.#options.accessTokenSec);
  }
}

/** Redis forgets a little later than the injected clock says. */
function keptMs(lifeSec: number): number {
  return lifeSec * SECOND_MS + MINUTE_MS;
}

const PERSON_GONE = 'The person is no longer in the directory';

const REFUSALS: Readonly<Record<string, string>> = {
  unknown: 'The code is unknown, withdrawn or long expired',
  client: 'The code was given to another client',
  reused: 'The code was used before; what it gave is revoked',
  spent: 'The code was used up by an earlier exchange that was refused',
  expired: 'The code is older than 10 seconds',
  redirect: 'redirect_uri differs from the one of the authorization; the code is used up',
  verifier: 'code_verifier does not fit the challenge; the code is used up',
};
