import { createHash } from 'node:crypto';
import { MINUTE_MS, SECOND_MS, type NowMs } from '../../base/clock.ts';
import { hashParts, randomToken, sha256Hex } from '../../base/ids.ts';
import { loadScript } from '../../base/lua-script.ts';
import { OAuthError } from './sign-in-errors.ts';
import type { Store } from './store.ts';

/** A code is usable for 10 seconds (interface section 3). */
export const CODE_LIFE_MS = 10 * SECOND_MS;
/** Kept longer than it lives: the injected clock decides, and a late exchange is told apart from an unknown code. */
const CODE_KEPT_MS = 5 * MINUTE_MS;

const exchangeScript = loadScript(import.meta.url, './scripts/exchange-code.lua');

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
  nowMs: NowMs;
}

/** Codes, tokens and what they stand for. Redis holds only their SHA-256, each with a time to live. */
export class Grants {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Makes a new code. @throws StoreError */
  async issueCode({ username, clientId, redirectUri, scope, challenge }: Consent): Promise<string> {
    const { store, nowMs, refreshTokenSec } = this.#options;
    const code = randomToken();
    const key = store.key('code', sha256Hex(code));
    const grants = store.key('grants', username, clientId);
    await store.use((redis) =>
      redis
        .multi()
        .hset(key, { issuedAtMs: nowMs(), username, clientId, redirectUri, scope, challenge: challenge ?? '' })
        .pexpire(key, CODE_KEPT_MS)
        .sadd(grants, grantIdOf(code))
        .pexpire(grants, keptMs(refreshTokenSec))
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
    const { store, accessTokenSec, refreshTokenSec, nowMs } = this.#options;
    const tokens = { accessToken: randomToken(), refreshToken: randomToken() };
    const grantId = grantIdOf(code);
    const keys = [
      store.key('code', sha256Hex(code)),
      store.key('grant', grantId),
      store.key('access', sha256Hex(tokens.accessToken)),
      store.key('refresh', sha256Hex(tokens.refreshToken)),
    ];
    const now = nowMs();
    const challenge = verifier === undefined ? '' : createHash('sha256').update(verifier).digest('base64url');
    const expiries = [
      now + accessTokenSec * SECOND_MS,
      now + refreshTokenSec * SECOND_MS,
      keptMs(accessTokenSec),
      keptMs(Math.max(accessTokenSec, refreshTokenSec)),
    ];
    const args = [now, CODE_LIFE_MS, clientId, redirectUri, challenge, grantId, ...expiries];
    const outcome = await store.use((redis) => exchangeScript.run(redis, keys, args));
    if (outcome !== 'ok') throw new OAuthError('invalid_grant', REFUSALS[String(outcome)] ?? 'The code cannot be used');
    return tokens;
  }

  /** A new access token for a refresh token, which stays as it is. @throws OAuthError `invalid_grant`; StoreError */
  async refresh(refreshToken: string, clientId: string): Promise<{ accessToken: string; scope: string }> {
    const { store, accessTokenSec, nowMs } = this.#options;
    const found = await this.#find('refresh', refreshToken);
    if (found?.grant.clientId !== clientId)
      throw new OAuthError('invalid_grant', 'The refresh token is unknown, expired or revoked');
    const accessToken = randomToken();
    const key = store.key('access', sha256Hex(accessToken));
    const record = { grant: found.grantId, expiresAtMs: nowMs() + accessTokenSec * SECOND_MS };
    await store.use((redis) => redis.multi().hset(key, record).pexpire(key, keptMs(accessTokenSec)).exec());
    return { accessToken, scope: found.grant.scope };
  }

  /** What an access token stands for; undefined when it is unknown, expired or revoked. @throws StoreError */
  async findByAccessToken(accessToken: string): Promise<Grant | undefined> {
    return (await this.#find('access', accessToken))?.grant;
  }

  /** Revokes every token that a person's agreement gave to a client. @throws StoreError */
  async revokeAll(username: string, clientId: string): Promise<void> {
    const { store } = this.#options;
    const list = store.key('grants', username, clientId);
    const ids = await store.use((redis) => redis.smembers(list));
    await store.use((redis) => redis.del(list, ...ids.map((id) => store.key('grant', id))));
  }

  async #find(kind: 'access' | 'refresh', token: string): Promise<{ grantId: string; grant: Grant } | undefined> {
    const { store, nowMs } = this.#options;
    const { grant: grantId, expiresAtMs } = await store.use((redis) =>
      redis.hgetall(store.key(kind, sha256Hex(token))),
    );
    if (grantId === undefined || !(nowMs() < Number(expiresAtMs))) return undefined;
    const { username, clientId, scope } = await store.use((redis) => redis.hgetall(store.key('grant', grantId)));
    if (username === undefined || clientId === undefined || scope === undefined) return undefined;
    return { grantId, grant: { username, clientId, scope } };
  }
}

/** Found from the code itself, so that a second use can revoke without a look-up. */
function grantIdOf(code: string): string {
  return hashParts('grant', code);
}

/** Redis forgets a little later than the injected clock says. */
function keptMs(lifeSec: number): number {
  return lifeSec * SECOND_MS + MINUTE_MS;
}

const REFUSALS: Readonly<Record<string, string>> = {
  reused: 'The code was used before; what it gave is revoked',
  expired: 'The code is older than 10 seconds',
  client: 'The code was given to another client',
  redirect: 'redirect_uri differs from the one of the authorization',
  verifier: 'code_verifier does not fit the challenge',
};
