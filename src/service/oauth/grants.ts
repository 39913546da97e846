import { createHash } from 'node:crypto';
import { MINUTE_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { hashParts, randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { OAuthError } from './sign-in-errors.ts';
import type { Store } from './store.ts';

/** A code is valid for 10 seconds. */
export const CODE_LIFE_MS = 10 * SECOND_MS;
/**
 * Stored for longer than its lifetime: the injected clock decides on expiry, and a late exchange differs from an unknown
 * code.
 */
const CODE_RETENTION_MS = 5 * MINUTE_MS;

const exchangeScript = loadScript(import.meta.url, './scripts/exchange-code.lua', {
  keys: ['code', 'grant', 'accessToken', 'refreshToken'],
  args: [
    ...(['nowMs', 'codeLifeMs', 'clientId', 'redirectUri', 'challenge', 'grantId'] as const),
    ...(['accessExpiresAtMs', 'refreshExpiresAtMs', 'accessKeptMs', 'refreshKeptMs', 'grantKeptMs'] as const),
  ],
  answer: { outcome: 'text', person: 'text', scope: 'text' },
});

/** A person's consent. */
export interface Consent {
  username: string;
  clientId: string;
  redirectUri: string;
  scope: string;
  /** Whether the client requested another scope than the granted one. */
  isOtherScope: boolean;
  /** PKCE S256 challenge; undefined if the client sent none. */
  challenge: string | undefined;
}

/** The person, client and scope behind a token. */
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
  /** Whether the person is still in the directory; otherwise no tokens are issued. */
  isKnown: (username: string) => boolean | Promise<boolean>;
  nowMs: NowMs;
}

interface FoundGrant extends Grant {
  grantId: string;
}

/** Codes, tokens and their grants. Redis only stores their SHA-256, each with a time to live, and the person sealed. */
export class Grants {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Creates a new code. @throws StoreError */
  async issueCode({ username, clientId, redirectUri, scope, isOtherScope, challenge }: Consent): Promise<string> {
    const { store, nowMs } = this.#options;
    const code = randomToken();
    const grantId = sha256Hex(code);
    const key = store.key('code', grantId);
    const list = this.#listKey(username, clientId);
    const person = store.seal(store.key('grant', grantId), username);
    const record = {
      ...{ issuedAtMs: nowMs(), person, clientId, redirectUri, scope, challenge: challenge ?? '' },
      ...(isOtherScope ? { isOtherScope: '1' } : undefined),
    };
    const endsAtMs = nowMs() + CODE_RETENTION_MS + this.#grantKeptMs();
    await store.use((redis) =>
      redis
        .multi()
        .hset(key, record)
        .pexpire(key, CODE_RETENTION_MS)
        .zremrangebyscore(list, '-inf', nowMs())
        .zadd(list, endsAtMs, grantId)
        .pexpire(list, endsAtMs - nowMs())
        .exec(),
    );
    return code;
  }

  /**
   * Exchanges a code for tokens, once (RFC 6749 section 4.1.3, RFC 7636 section 4.6), with the scope if another one was
   * requested.
   * @throws OAuthError `invalid_grant`; StoreError
   */
  async exchange({
    code,
    clientId,
    redirectUri,
    verifier,
  }: CodeExchange): Promise<{ accessToken: string; refreshToken: string; scope: string | undefined }> {
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
    const { outcome, person, scope } = await store.use((redis) => exchangeScript.run(redis, keys, args));
    if (outcome !== 'ok') throw new OAuthError('invalid_grant', REFUSALS[outcome] ?? 'The code cannot be used');
    const username = store.open(grantKey, person);
    if (username === undefined || !(await isKnown(username))) {
      await store.use((redis) => redis.del(grantKey));
      throw new OAuthError('invalid_grant', PERSON_GONE);
    }
    return { ...tokens, scope: scope === '' ? undefined : scope };
  }

  /** A new access token for a refresh token, which does not change. @throws OAuthError `invalid_grant`; StoreError */
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

  /** The grant of an access token; undefined if it is unknown, expired or revoked. @throws StoreError */
  async findByAccessToken(accessToken: string): Promise<Grant | undefined> {
    return this.#find('access', accessToken);
  }

  /**
   * Revokes a token (RFC 7009 section 2.1): a refresh token with all tokens of its grant, or one access token. An unknown token
   * counts as revoked.
   * @throws OAuthError `invalid_grant` for a token of another client; StoreError
   */
  async revoke(token: string, clientId: string): Promise<void> {
    const { store } = this.#options;
    const refresh = await this.#find('refresh', token);
    const found = refresh ?? (await this.#find('access', token));
    if (!found) return;
    if (found.clientId !== clientId) throw new OAuthError('invalid_grant', 'The token was issued to another client');
    if (refresh) await this.#endGrants(this.#listKey(refresh.username, clientId), [refresh.grantId]);
    else await store.use((redis) => redis.del(store.key('access', sha256Hex(token))));
  }

  /** Revokes every code and token that a client received with a person's consent. @throws StoreError */
  async revokeAll(username: string, clientId: string): Promise<void> {
    const { store } = this.#options;
    const list = this.#listKey(username, clientId);
    const ids = await store.use((redis) => redis.zrange(list, '0', '-1'));
    // Grants that are issued meanwhile stay on the list.
    if (ids.length > 0) await this.#endGrants(list, ids);
  }

  async #endGrants(list: string, ids: readonly string[]): Promise<void> {
    const { store } = this.#options;
    const keys = ids.flatMap((id) => [store.key('code', id), store.key('grant', id)]);
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

  /**
   * Sorted set of the grants that a person gave to a client, by expiry time, so that withdrawing consent needs no search.
   */
  #listKey(username: string, clientId: string): string {
    return this.#options.store.key('grants', hashParts(username, clientId));
  }

  /** An access token issued at the end of a refresh token's lifetime outlives it. */
  #grantKeptMs(): number {
    return keptMs(this.#options.refreshTokenSec + this.#options.accessTokenSec);
  }
}

/** Redis keeps values slightly longer than the injected clock requires. */
function keptMs(lifeSec: number): number {
  return lifeSec * SECOND_MS + MINUTE_MS;
}

const PERSON_GONE = 'The person is no longer in the directory';

const REFUSALS: Readonly<Record<string, string>> = {
  unknown: 'The code is unknown, revoked or expired',
  client: 'The code was issued to another client',
  reused: 'The code was already used; its tokens are now revoked',
  spent: 'The code became invalid when an earlier exchange was refused',
  expired: 'The code is older than 10 seconds',
  redirect: 'redirect_uri differs from that of the authorization request; the code is now invalid',
  verifier: 'code_verifier does not match the challenge; the code is now invalid',
};
