import { randomBytes } from 'node:crypto';
import type { NowMs } from '../../../shared/clock.ts';
import { asError } from '../../../shared/coded-error.ts';
import { sha256Hex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Log } from '../../../shared/log.ts';
import { tryOpen } from '../../../shared/crypto/decrypt-record.ts';
import { platformCallbackUrl } from '../../platforms/callback-url.ts';
import type { Platform, WebSignIn } from '../../platforms/platform.ts';
import type { Redeemed, SignInProvider } from '../providers/provider.ts';
import { isIdentityError } from '../identity-error.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import type { Invitations } from '../invitations/invitations.ts';
import { TRANSACTION_LIFE_MS, type Transaction } from '../invitations/transactions.ts';
import type { SignInCallback } from './take-transaction.ts';

const PLATFORM_PURPOSE = 'platform-departure';

/** A redirect and the transaction that must match its callback. */
export interface AuthorizationRequest {
  location: string;
  transaction: Transaction;
}

interface LegOptions {
  ticketHash: string;
  cookieHash: string;
  isChatProven: boolean;
  restarts: number;
  /** Data for the "try again" form of the pages service-failed and chat-app-failed. */
  again: TryAgain;
}

/** Redirects browsers to the platform and the sign-in service, and processes their callbacks. */
export interface Authorizations {
  /**
   * Redirects to the platform's own web sign-in (SECURITY.md chat-proof-first).
   * @throws PageError chat-app-failed
   * @throws TypeError if the platform has none
   */
  toPlatform(
    platform: Platform,
    leg: Pick<LegOptions, 'ticketHash' | 'cookieHash' | 'again'>,
  ): Promise<AuthorizationRequest>;
  /**
   * Asks the platform which user returned from its web sign-in.
   * @throws PlatformError; PageError sign-in-broken-off if the stored verifier cannot be decrypted
   */
  identify(returned: SignInCallback, webSignIn: WebSignIn): ReturnType<WebSignIn['identify']>;
  /**
   * Redirects to the sign-in service (SECURITY.md one-transaction, fixed-redirect).
   * @throws PageError service-failed
   */
  toService(leg: LegOptions): Promise<AuthorizationRequest>;
  /**
   * Binds the invitation to this browser for one authorization request.
   * @throws PageError link-used-up if it has ended or is bound to another browser, too-many-tries if it was started too
   * often
   */
  begin(start: Parameters<Invitations['start']>[0]): Promise<void>;
  /**
   * Exchanges the code or ticket of a callback.
   * @throws IdentityError `service_…`; PageError sign-in-broken-off if the stored verifier cannot be decrypted
   */
  redeem(returned: SignInCallback): Promise<Redeemed>;
  /** Maps a failure of the sign-in service to its error page; returns other errors unchanged. */
  failure(thrown: unknown, again: TryAgain): Error;
}

export interface AuthorizationParts {
  /** `https://HOST[:PORT]`, without a path. */
  publicOrigin: string;
  dialect: SignInProvider;
  invitations: Pick<Invitations, 'start'>;
  keyRing: KeyRing;
  nowMs: NowMs;
  log: Log;
}

export function createAuthorizations(parts: AuthorizationParts): Authorizations {
  const { publicOrigin, dialect, invitations, keyRing, nowMs, log } = parts;
  const failure: Authorizations['failure'] = (thrown, again) => {
    if (!isIdentityError(thrown, 'service_timeout', 'service_unreachable', 'service_refused')) return asError(thrown);
    log.warn({ error: thrown }, 'the sign-in service failed');
    return new PageError('service-failed', { again, status: thrown.code === 'service_timeout' ? 504 : undefined });
  };
  const openKept = (purpose: string, cookieHash: string, sealed: string): string => {
    const opened = tryOpen(() => keyRing.open(purpose, cookieHash, sealed));
    if (opened.kind === 'opened') return opened.value;
    // Corrupt, or its key is missing. The transaction is used up, so no other process with the key can continue either.
    log.warn({ error: opened.error }, 'the stored sign-in state of a browser cannot be decrypted');
    throw new PageError('sign-in-broken-off');
  };
  return {
    async toPlatform({ name, webSignIn }, { ticketHash, cookieHash, again }) {
      if (!webSignIn) throw new TypeError(`${name} has no web sign-in`);
      const state = newState();
      const redirectUri = platformCallbackUrl(publicOrigin, name);
      const { location, kept } = await webSignIn.startAuthorization({ redirectUri, state }).catch((thrown: unknown) => {
        log.warn({ error: asError(thrown) }, 'the web sign-in of the platform could not be started');
        throw new PageError('chat-app-failed', { again });
      });
      const verifier = keyRing.seal(PLATFORM_PURPOSE, cookieHash, kept);
      const expiresAtMs = nowMs() + TRANSACTION_LIFE_MS;
      const common = { ticketHash, redirectUri, stateHash: sha256Hex(state), expiresAtMs, verifier };
      return { location, transaction: { leg: `platform/${name}`, ...common, isChatProven: false, restarts: 0 } };
    },
    async identify({ code, query, cookieHash, transaction: { redirectUri, verifier } }, webSignIn) {
      // Earlier versions stored nothing.
      const kept = verifier === undefined ? '' : openKept(PLATFORM_PURPOSE, cookieHash, verifier);
      return webSignIn.identify({ code, query, redirectUri, state: query.get('state') ?? '', kept });
    },
    async toService({ ticketHash, cookieHash, isChatProven, restarts, again }) {
      const state = newState();
      const redirectUri = serviceRedirectUri(publicOrigin);
      const { location, kept } = await dialect.startAuthorization({ redirectUri, state }).catch((thrown: unknown) => {
        throw failure(thrown, again);
      });
      const sealed = keyRing.seal('pkce-verifier', cookieHash, kept);
      const expiresAtMs = nowMs() + TRANSACTION_LIFE_MS;
      const common = { ticketHash, redirectUri, stateHash: sha256Hex(state), expiresAtMs };
      return { location, transaction: { leg: 'service', ...common, verifier: sealed, isChatProven, restarts } };
    },
    async begin(start) {
      const started = await invitations.start(start);
      if (started !== 'started') throw new PageError(started === 'gone' ? 'link-used-up' : 'too-many-tries');
    },
    async redeem({ code, query, cookieHash, transaction: { redirectUri, verifier = '' } }) {
      const kept = openKept('pkce-verifier', cookieHash, verifier);
      return dialect.redeem({ code, query, redirectUri, state: query.get('state') ?? '', kept });
    },
    failure,
  };
}

/** The fixed redirect address of the sign-in service. */
export function serviceRedirectUri(publicOrigin: string): string {
  return `${publicOrigin}/oauth/callback`;
}

/** 32 random bytes as hex: WeCom allows letters and digits only. */
export function newState(): string {
  return randomBytes(32).toString('hex');
}
