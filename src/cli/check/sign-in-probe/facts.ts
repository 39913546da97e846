/** What the probe learnt about a sign-in service; what was not tried is absent. */
export interface ProbeFacts {
  /** How often `state` came back as it was sent, and how often it did not come at all. */
  state: { echoed: number; missing: number };
  /** `state` came back as something else: nothing can be built on that. */
  isStateAltered?: boolean;
  /** An authorize address with parameters that the service does not know leads back with a code that works. */
  toleratesParameters?: boolean;
  /** A code with a challenge is refused to a wrong verifier. */
  refusesWrongVerifier?: boolean;
  /** A code without a challenge is refused to whoever sends a verifier (RFC 9700 section 4.8.2). */
  refusesUnaskedVerifier?: boolean;
  /** As it came. */
  expiresIn?: unknown;
  refresh?: 'no token' | 'works' | 'refused';
  /** Whether each kind of token still worked after the browser had signed out. */
  afterSignOut?: { accessToken: boolean; refreshToken: boolean | undefined };
  /** The profile's id equals `--person`'s by the declared rule. */
  isSameId?: boolean;
  /** Nothing further can be learnt. */
  isStuck?: boolean;
}

export function noFacts(): ProbeFacts {
  return { state: { echoed: 0, missing: 0 } };
}

/** Whether a code that somebody else obtained cannot be slipped into a sign-in of ours (SECURITY.md state-by-mode). */
export function isPkceProven({ refusesWrongVerifier, refusesUnaskedVerifier }: ProbeFacts): boolean {
  return refusesWrongVerifier === true && refusesUnaskedVerifier === true;
}
