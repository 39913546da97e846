import { randomBytes } from 'node:crypto';
import type { NowMs } from '../../../shared/clock.ts';
import { asError } from '../../../shared/coded-error.ts';
import { sha256Hex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Log } from '../../../shared/log.ts';
import { tryOpen } from '../../../shared/crypto/decrypt-record.ts';
import { platformCallbackUrl } from '../../platforms/callback-url.ts';
import type { Platform, WebSignIn } from '../../platforms/platform.ts';
import type { Redeemed, SignInDialect } from '../providers/provider.ts';
import { isIdentityError } from '../identity-error.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import type { Tickets } from '../invitations/invitations.ts';
import { TRANSACTION_LIFE_MS, type Transaction } from '../invitations/transactions.ts';
import type { Returned } from './take-transaction.ts';

const PLATFORM_PURPOSE = 'platform-departure';

/** Where a browser is sent next, and what it has to come back with. */
export interface AuthorizationRequest {
  location: string;
  transaction: Transaction;
}

interface LegOptions {
  ticketHash: string;
  cookieHash: string;
  isChatProven: boolean;
  restarts: number;
  /** What the pages service-failed and chat-app-failed need to offer a new start. */
  again: TryAgain;
}

/** A browser's ways to those who say who it is, and what it brings back from the sign-in service. */
export interface Authorizations {
  /** Learns what has to be known before a page may lead to the service; a failure shows later. */
  prepare(): Promise<void>;
  /** To the platform's own web sign-in (SECURITY.md chat-proof-first). @throws PageError chat-app-failed @throws TypeError when the platform has none */
  toPlatform(
    platform: Platform,
    leg: Pick<LegOptions, 'ticketHash' | 'cookieHash' | 'again'>,
  ): Promise<AuthorizationRequest>;
  /** Asks the platform who came back from its web sign-in. @throws PlatformError; PageError sign-in-broken-off when what that needs does not open */
  identify(returned: Returned, webSignIn: WebSignIn): ReturnType<WebSignIn['identify']>;
  /** To the sign-in service (SECURITY.md one-transaction, fixed-redirect). @throws PageError service-failed */
  toService(leg: LegOptions): Promise<AuthorizationRequest>;
  /** Binds the ticket to this browser for one authorization request. @throws PageError link-used-up when it is another browser's or over, too-many-tries when it was started too often */
  begin(start: Parameters<Tickets['start']>[0]): Promise<void>;
  /** Exchanges what a return from the service brought. @throws IdentityError `service_…`; PageError sign-in-broken-off when what the exchange needs does not open */
  redeem(returned: Returned): Promise<Redeemed>;
  /** What the sign-in service's failure is to a browser; everything else stays what it is. */
  failure(thrown: unknown, again: TryAgain): Error;
}

export interface AuthorizationParts {
  /** `https://HOST[:PORT]`, without a path. */
  publicOrigin: string;
  dialect: SignInDialect;
  tickets: Pick<Tickets, 'start'>;
  keyRing: KeyRing;
  nowMs: NowMs;
  log: Log;
}

export function createAuthorizations(parts: AuthorizationParts): Authorizations {
  const { publicOrigin, dialect, tickets, keyRing, nowMs, log } = parts;
  const failure: Authorizations['failure'] = (thrown, again) => {
    if (!isIdentityError(thrown, 'service_timeout', 'service_unreachable', 'service_refused')) return asError(thrown);
    log.warn({ error: thrown }, 'the sign-in service failed');
    return new PageError('service-failed', { again, status: thrown.code === 'service_timeout' ? 504 : undefined });
  };
  const openKept = (purpose: string, cookieHash: string, sealed: string): string => {
    const opened = tryOpen(() => keyRing.open(purpose, cookieHash, sealed));
    if (opened.kind === 'opened') return opened.value;
    // Broken, or without its key. The transaction is taken, so that no other process with the key can go on with it either.
    log.warn({ error: opened.error }, 'what a browser’s return needs does not open');
    throw new PageError('sign-in-broken-off');
  };
  return {
    prepare: () => dialect.prepare(),
    async toPlatform({ name, webSignIn }, { ticketHash, cookieHash, again }) {
      if (!webSignIn) throw new TypeError(`${name} has no web sign-in`);
      const state = newState();
      const redirectUri = platformCallbackUrl(publicOrigin, name);
      const { location, kept } = await webSignIn.leave({ redirectUri, state }).catch((thrown: unknown) => {
        log.warn({ error: asError(thrown) }, 'the platform took no browser to its web sign-in');
        throw new PageError('chat-app-failed', { again });
      });
      const verifier = keyRing.seal(PLATFORM_PURPOSE, cookieHash, kept);
      const expiresAtMs = nowMs() + TRANSACTION_LIFE_MS;
      const common = { ticketHash, redirectUri, stateHash: sha256Hex(state), expiresAtMs, verifier };
      return { location, transaction: { leg: `platform/${name}`, ...common, isChatProven: false, restarts: 0 } };
    },
    async identify({ code, query, cookieHash, transaction: { redirectUri, verifier } }, webSignIn) {
      // Earlier versions kept nothing.
      const kept = verifier === undefined ? '' : openKept(PLATFORM_PURPOSE, cookieHash, verifier);
      return webSignIn.identify({ code, query, redirectUri, state: query.get('state') ?? '', kept });
    },
    async toService({ ticketHash, cookieHash, isChatProven, restarts, again }) {
      const state = newState();
      const redirectUri = serviceRedirectUri(publicOrigin);
      const { location, kept } = await dialect.leave({ redirectUri, state }).catch((thrown: unknown) => {
        throw failure(thrown, again);
      });
      const sealed = keyRing.seal('pkce-verifier', cookieHash, kept);
      const expiresAtMs = nowMs() + TRANSACTION_LIFE_MS;
      const common = { ticketHash, redirectUri, stateHash: sha256Hex(state), expiresAtMs };
      return { location, transaction: { leg: 'service', ...common, verifier: sealed, isChatProven, restarts } };
    },
    async begin(start) {
      const started = await tickets.start(start);
      if (started !== 'started') throw new PageError(started === 'gone' ? 'link-used-up' : 'too-many-tries');
    },
    async redeem({ code, query, cookieHash, transaction: { redirectUri, verifier = '' } }) {
      const kept = openKept('pkce-verifier', cookieHash, verifier);
      return dialect.redeem({ code, query, redirectUri, state: query.get('state') ?? '', kept });
    },
    failure,
  };
}

/** The one fixed address that the sign-in service returns to. */
export function serviceRedirectUri(publicOrigin: string): string {
  return `${publicOrigin}/oauth/callback`;
}

/** 32 random bytes as hex: WeCom allows letters and digits only. */
function newState(): string {
  return randomBytes(32).toString('hex');
}
