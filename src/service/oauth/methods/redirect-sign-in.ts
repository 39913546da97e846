import type { Person } from '../../directory-file.ts';
import type { Store } from '../store.ts';

/** A browser that is about to leave for the place where people are known. */
export interface Leaving {
  /** The one address of ours to which this way of signing in comes back. */
  callbackUrl: string;
  /** 64 hex digits, new for each departure; must come back as a query parameter of the callback. */
  state: string;
  /** Somebody asked to sign in as another person: whoever is signed in there does not count. */
  isAnew: boolean;
}

export interface Departure {
  location: string;
  /** What `identify` will need (a verifier, a nonce); kept sealed meanwhile, and bound to the browser. */
  kept?: string;
}

/** A browser that came back with a state of ours, its first time. */
export interface Arrival {
  callbackUrl: string;
  state: string;
  /** As it came; each parameter occurs once and none is over-long. */
  query: URLSearchParams;
  kept: string | undefined;
}

/**
 * A way to sign in for which the browser leaves with a state and comes back. State and browser are checked before `identify`
 * is called, and a return that brought somebody counts once; it vouches for who came back, and for nothing else.
 */
export interface RedirectSignIn<Who> {
  /** Lower-case letters; it stands in the callback address, `/sign-in/NAME/callback`, and in sessions. */
  readonly name: string;
  /** @throws PageError `sign_in_failed` when the other side cannot be reached */
  leave(leaving: Leaving): Promise<Departure>;
  /**
   * Who came back; undefined when the other side says that this is none of its people.
   * @throws PageError `sign_in_failed`, `sign_in_lost`, `sign_in_declined`, `profile_unusable`; StoreError
   */
  identify(arrival: Arrival): Promise<Who | undefined>;
}

/** An enterprise messaging app's web sign-in: it tells the app's user id, and the directory whose id that is. */
export interface MessagingAppSignIn extends RedirectSignIn<{ userId: string }> {
  /** Whether the page was opened inside the app. A hint for the way to sign in, never evidence of who it is. */
  isOpenIn(userAgent: string): boolean;
  /** Whether the app takes its user ids as the same in upper and lower case. */
  readonly ignoresCase: boolean;
}

/** Makes an app's web sign-in, given a place to seal and share what all processes need (an app's token). */
export type MakeMessagingApp = (store: Store) => MessagingAppSignIn;

/** The institution's own unified identity: it tells the person, profile included. */
export interface InstitutionSignIn extends RedirectSignIn<{ person: Person }> {
  /** Names the system whose people these are; two systems' people are never taken for each other. */
  readonly origin: string;
}

export type AnySignIn = MessagingAppSignIn | InstitutionSignIn;
