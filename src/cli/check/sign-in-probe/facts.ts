/** What the probe learned about a sign-in service. Untested facts are absent. */
export interface ProbeFacts {
  /** How often `state` was returned unchanged, and how often it was missing. */
  state: { echoed: number; missing: number };
  /** `state` was returned changed. The sign-in cannot work. */
  isStateAltered?: boolean;
  /** An authorization request with unknown parameters yields a working code. */
  toleratesParameters?: boolean;
  /** A code with a challenge is refused for a wrong verifier. */
  refusesWrongVerifier?: boolean;
  /** A code without a challenge is refused if a verifier is sent (RFC 9700 section 4.8.2). */
  refusesUnaskedVerifier?: boolean;
  /** Unvalidated. */
  expiresIn?: unknown;
  refresh?: 'no token' | 'works' | 'refused';
  /** Whether each kind of token still worked after the browser signed out. */
  afterSignOut?: { accessToken: boolean; refreshToken: boolean | undefined };
  /** The profile's id matches `--person` by the configured rule. */
  isSameId?: boolean;
  /** No further tests are possible. */
  isStuck?: boolean;
}

export function noFacts(): ProbeFacts {
  return { state: { echoed: 0, missing: 0 } };
}

/** Whether PKCE prevents the injection of another user's code into a sign-in (SECURITY.md state-by-mode). */
export function isPkceProven({ refusesWrongVerifier, refusesUnaskedVerifier }: ProbeFacts): boolean {
  return refusesWrongVerifier === true && refusesUnaskedVerifier === true;
}
