import type { Claims } from '../../../shared/sign-in/person-from-claims.ts';
import type { Profile } from '../oauth/profile-response.ts';
import type { RefusalClass, TokenSet } from '../oauth/token-response.ts';
import type { KeptTokens } from '../tokens/vault.ts';

/** The query parameter in which a return brings what is redeemed. */
export interface ReturnParameter {
  name: 'code' | 'ticket';
  /** Longer ones are refused unread. Characters. */
  mostChars: number;
}

/** A browser's way to the sign-in service. */
export interface Departure {
  location: string;
  /** What `redeem` will need (verifier, nonce); the caller keeps it sealed for this browser. */
  kept: string;
}

/** A return whose transaction and `state` were found right. */
export interface Arrival {
  /** The code or ticket. */
  code: string;
  /** As it came, sound in form. */
  query: URLSearchParams;
  redirectUri: string;
  state: string;
  kept: string;
}

/** What a return was worth. */
export interface Redeemed {
  /** What may be kept of it; the caller decides how much is. */
  tokens: KeptTokens;
  /** Life of the access token; 0 without one. Milliseconds. */
  lifeMs: number;
  /** @throws IdentityError `profile_broken`, `profile_unfit`, `service_refused`, `service_timeout`, `service_unreachable` */
  profile(): Promise<Profile>;
}

/** A token to ask with, and what was said of its person when it was given. */
export interface CurrentToken {
  accessToken: string;
  subject?: string;
  claims?: Claims;
}

export type Renewal =
  { kind: 'renewed'; tokens: TokenSet; claims?: Claims } | { kind: 'refused'; refusal: RefusalClass; status: number };

/**
 * How a sign-in service is spoken to: one port, whichever protocol it is. A dialect never decides whether a link is made: browser,
 * transaction, `state`, proof and confirmation are the flow's, the same for all (SECURITY.md same-for-all-dialects).
 */
export interface SignInDialect {
  readonly returns: ReturnParameter;
  /** Whether the daily check needs tokens that were renewed for it: their id token tells the person. */
  readonly checksByRenewal: boolean;
  /**
   * Whether a browser that comes back and brings nothing is certainly signed out there. Not so where people may say no, or where the
   * address is gone to after signing in again.
   */
  readonly returnsOnlySignedOut: boolean;
  /** Where browsers are sent, as far as it is known; for `form-action`. */
  origins(): readonly string[];
  /** Finds out what `origins` needs; does not fail. */
  prepare(): Promise<void>;
  /** @throws IdentityError `service_refused`, `service_timeout`, `service_unreachable` */
  leave(leaving: { redirectUri: string; state: string }): Promise<Departure>;
  /** Redeems a code or ticket, once, whatever happens (SECURITY.md code-used-once). @throws IdentityError as `leave` */
  redeem(arrival: Arrival): Promise<Redeemed>;
  /** @throws IdentityError as `leave`; `profile_unfit` when the new tokens are another person's */
  renew(tokens: KeptTokens): Promise<Renewal>;
  /** Reads the profile again. @returns `token-refused` for a 401. @throws IdentityError as `Redeemed.profile` */
  profile(token: CurrentToken): Promise<Profile | 'token-refused'>;
  /** Where a browser signs out; what it returns to is fixed (SECURITY.md unlink-ends-all). Undefined where there is no such place. */
  logoutUrl(returnTo: string): Promise<string | undefined>;
}
