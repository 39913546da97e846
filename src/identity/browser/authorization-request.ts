import { randomBytes } from 'node:crypto';
import { asError } from '../../base/coded-error.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { SignInFlow } from './flow.ts';
import { isIdentityError } from '../identity-error.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import { TRANSACTION_LIFE_MS, type Transaction } from '../tickets/transactions.ts';

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
  /** What page service-failed needs to offer a new start. */
  again: TryAgain;
}

/** Binds the ticket to this browser for one authorization request. @throws PageError link-used-up when it is another browser's or over, too-many-tries when it was started too often */
export async function startAuthorization(
  flow: SignInFlow,
  start: Parameters<SignInFlow['tickets']['start']>[0],
): Promise<void> {
  const started = await flow.tickets.start(start);
  if (started !== 'started') throw new PageError(started === 'gone' ? 'link-used-up' : 'too-many-tries');
}

/** To the platform's own web sign-in (SECURITY.md chat-proof-first). @throws TypeError when the platform has none */
export function platformAuthorization(flow: SignInFlow, platform: Platform, ticketHash: string): AuthorizationRequest {
  if (!platform.webSignIn) throw new TypeError(`${platform.name} has no web sign-in`);
  const state = newState();
  const redirectUri = `${flow.publicOrigin}/oauth/platform/${platform.name}/callback`;
  const common = {
    ticketHash,
    redirectUri,
    stateHash: sha256Hex(state),
    expiresAtMs: flow.nowMs() + TRANSACTION_LIFE_MS,
  };
  return {
    location: platform.webSignIn.authorizeUrl({ redirectUri, state }),
    transaction: { leg: `platform/${platform.name}`, ...common, isChatProven: false, restarts: 0 },
  };
}

/** To the sign-in service (SECURITY.md one-transaction, fixed-redirect). @throws PageError service-failed */
export async function serviceAuthorization(
  flow: SignInFlow,
  { ticketHash, cookieHash, isChatProven, restarts, again }: LegOptions,
): Promise<AuthorizationRequest> {
  const state = newState();
  const redirectUri = serviceRedirectUri(flow.publicOrigin);
  const { location, kept } = await flow.dialect.leave({ redirectUri, state }).catch((thrown: unknown) => {
    throw serviceFailure(flow, thrown, again);
  });
  const sealed = flow.keyRing.seal('pkce-verifier', cookieHash, kept);
  const common = {
    ticketHash,
    redirectUri,
    stateHash: sha256Hex(state),
    expiresAtMs: flow.nowMs() + TRANSACTION_LIFE_MS,
  };
  return { location, transaction: { leg: 'service', ...common, verifier: sealed, isChatProven, restarts } };
}

/** What the sign-in service's failure is to a browser; everything else stays what it is. */
export function serviceFailure(flow: SignInFlow, thrown: unknown, again: TryAgain): Error {
  if (!isIdentityError(thrown, 'service_timeout', 'service_unreachable', 'service_refused')) return asError(thrown);
  flow.log.warn({ error: thrown }, 'the sign-in service failed');
  return new PageError('service-failed', { again, status: thrown.code === 'service_timeout' ? 504 : undefined });
}

/** The one fixed address that the sign-in service returns to. */
export function serviceRedirectUri(publicOrigin: string): string {
  return `${publicOrigin}/oauth/callback`;
}

/** 32 random bytes as hex: WeCom allows letters and digits only. */
function newState(): string {
  return randomBytes(32).toString('hex');
}
