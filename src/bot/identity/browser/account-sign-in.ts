import type { NowMs } from '../../../shared/clock.ts';
import { sameSecret, sha256Hex } from '../../../shared/crypto/ids.ts';
import { recordWith, tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { AccountId } from '../../domain/ids.ts';
import { TRANSACTION_LIFE_MS } from '../invitations/transactions.ts';
import type { SignInProvider } from '../providers/provider.ts';
import { isIdentityError } from '../identity-error.ts';
import { newState, serviceRedirectUri } from './authorization-request.ts';
import { readCallback } from './request-guards.ts';

const PURPOSE = 'account-sign-in';

/** A sign-in in progress. Only the browser stores it, encrypted, so that strangers store nothing in Redis. */
interface Departure {
  stateHash: string;
  kept: string;
  expiresAtMs: string;
  /** Chosen by the caller. */
  returnTo: string;
}

const readDeparture = recordWith<Departure>('stateHash', 'kept', 'expiresAtMs', 'returnTo');

/** Result of a callback. `other`: it belongs to another sign-in of this browser, or to none. */
export type AccountReturn =
  | { kind: 'other' }
  | { kind: 'declined'; returnTo: string }
  | { kind: 'signed-in'; returnTo: string; accountId: AccountId };

/**
 * Signs in an account without a chat, at the same service, redirect address and protocol as the links of chat accounts
 * (SECURITY.md fixed-redirect, state-by-mode, code-used-once). Stores no tokens.
 */
export interface AccountSignIn {
  /**
   * @param returnTo returned by `finish`
   * @returns the redirect, and what the browser must present at the callback
   * @throws IdentityError `service_…`
   */
  begin(returnTo: string): Promise<{ location: string; sealed: string }>;
  /**
   * @param sealed of `begin`, as the browser presents it
   * @returns `declined` also for an account that may not be used, such as a closed one
   * @throws IdentityError `service_…`
   */
  finish(sealed: string, querystring: string): Promise<AccountReturn>;
}

interface AccountSignInParts {
  dialect: SignInProvider;
  keyRing: KeyRing;
  /** `https://HOST[:PORT]`, without a path. */
  publicOrigin: string;
  state: 'required' | 'absent';
  nowMs: NowMs;
}

export function createAccountSignIn(parts: AccountSignInParts): AccountSignIn {
  const { dialect, keyRing, publicOrigin, nowMs } = parts;
  const redirectUri = serviceRedirectUri(publicOrigin);
  return {
    async begin(returnTo) {
      const state = newState();
      const { location, kept } = await dialect.startAuthorization({ redirectUri, state });
      const expiresAtMs = String(nowMs() + TRANSACTION_LIFE_MS);
      const departure: Departure = { stateHash: sha256Hex(state), kept, expiresAtMs, returnTo };
      return { location, sealed: keyRing.seal(PURPOSE, publicOrigin, JSON.stringify(departure)) };
    },
    async finish(sealed, querystring) {
      const query = readCallback(querystring, dialect.returns);
      const opened = tryOpenJson(() => keyRing.open(PURPOSE, publicOrigin, sealed), readDeparture);
      if (!query || opened.kind !== 'opened' || !isExpected(parts, opened.value, query.state)) return { kind: 'other' };
      const { kept, returnTo } = opened.value;
      const { code, state = '' } = query;
      if (query.isError || code === undefined) return { kind: 'declined', returnTo };
      const arrival = { code, query: new URLSearchParams(querystring), redirectUri, state, kept };
      const redeemed = await dialect.redeem(arrival);
      try {
        return { kind: 'signed-in', returnTo, accountId: (await redeemed.profile()).id };
      } catch (error) {
        if (isIdentityError(error, 'profile_broken', 'profile_unfit')) return { kind: 'declined', returnTo };
        throw error;
      }
    },
  };
}

/** `state` may be absent only if the settings say that the service drops it. */
function isExpected(
  { state: mode, nowMs }: AccountSignInParts,
  { stateHash, expiresAtMs }: Departure,
  state: string | undefined,
): boolean {
  if (!(Number(expiresAtMs) > nowMs())) return false;
  return state === undefined ? mode === 'absent' : sameSecret(sha256Hex(state), stateHash);
}
