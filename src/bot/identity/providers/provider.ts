import type { Claims } from '../../../shared/sign-in/person-from-claims.ts';
import type { Profile } from '../oauth/profile-response.ts';
import type { RefusalClass, TokenSet } from '../oauth/token-response.ts';
import type { KeptTokens } from '../tokens/vault.ts';

/** The query parameter of the callback that contains the code or ticket. */
export interface CallbackParameter {
  name: 'code' | 'ticket';
  /** Longer values are refused unread. Characters. */
  maxChars: number;
}

/** A redirect to the sign-in service. */
export interface AuthorizationRedirect {
  location: string;
  /** Input of `redeem` (verifier, nonce). The caller stores it encrypted for this browser. */
  kept: string;
}

/** A callback with a valid transaction and `state`. */
export interface AuthorizationCallback {
  /** The code or ticket. */
  code: string;
  /** The complete query, syntactically valid. */
  query: URLSearchParams;
  redirectUri: string;
  state: string;
  kept: string;
}

/** The result of redeeming a code or ticket. */
export interface Redeemed {
  /** Tokens that may be stored. The caller decides which are. */
  tokens: KeptTokens;
  /** Lifetime of the access token; 0 without one. Milliseconds. */
  lifeMs: number;
  /** @throws IdentityError `profile_broken`, `profile_unfit`, `service_refused`, `service_timeout`, `service_unreachable` */
  profile(): Promise<Profile>;
}

/** An access token and the user that it was issued for. */
export interface CurrentToken {
  accessToken: string;
  subject?: string;
  claims?: Claims;
}

export type Renewal =
  { kind: 'renewed'; tokens: TokenSet; claims?: Claims } | { kind: 'refused'; refusal: RefusalClass; status: number };

/**
 * The adapter for a sign-in protocol. It never decides whether a link is created: browser binding, transaction, `state`,
 * proof and confirmation are the same for all protocols (SECURITY.md same-for-all-dialects).
 */
export interface SignInProvider {
  readonly returns: CallbackParameter;
  /** Whether the daily check must refresh the tokens, because the new id token identifies the user. */
  readonly checksByRenewal: boolean;
  /**
   * Whether a browser that returns without parameters is certainly signed out. False if users may decline, or if the address
   * is also visited after signing in again.
   */
  readonly returnsOnlySignedOut: boolean;
  /** @throws IdentityError `service_refused`, `service_timeout`, `service_unreachable` */
  startAuthorization(leaving: { redirectUri: string; state: string }): Promise<AuthorizationRedirect>;
  /** Redeems a code or ticket. Never retried (SECURITY.md code-used-once). @throws IdentityError as `leave` */
  redeem(arrival: AuthorizationCallback): Promise<Redeemed>;
  /** @throws IdentityError as `leave`; `profile_unfit` if the new tokens belong to another user */
  renew(tokens: KeptTokens): Promise<Renewal>;
  /** Reads the profile again. @returns `token-refused` for a 401 @throws IdentityError as `Redeemed.profile` */
  profile(token: CurrentToken): Promise<Profile | 'token-refused'>;
  /** The sign-out address with a fixed return address (SECURITY.md unlink-ends-all). Undefined if the service has none. */
  logoutUrl(returnTo: string): Promise<string | undefined>;
}
