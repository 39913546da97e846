import type { Person } from '../../directory-file.ts';
import type { Store } from '../store.ts';

/** A browser that is about to be redirected to the identity provider. */
export interface RedirectRequest {
  /** The callback URL of this sign-in method. */
  callbackUrl: string;
  /** 64 hex digits, new for each sign-in; must be returned as a query parameter of the callback. */
  state: string;
  /** The person asked to sign in as another person: an existing session at the provider does not count. */
  forcesLogin: boolean;
}

export interface RedirectTarget {
  location: string;
  /** Data for `identify` (a verifier, a nonce); kept sealed meanwhile, and bound to the browser. */
  kept?: string;
}

/** A browser that returned with one of our states for the first time. */
export interface ProviderCallback {
  callbackUrl: string;
  state: string;
  /** As received; each parameter occurs once and none is overlong. */
  query: URLSearchParams;
  kept: string | undefined;
}

/**
 * A sign-in method in which the browser is redirected with a state and returns. State and browser are checked before
 * `identify` is called, and a successful return counts only once. It establishes the person's identity and nothing else.
 */
export interface RedirectSignIn<Who> {
  /** Lower-case letters; used in the callback path, `/sign-in/NAME/callback`, and in sessions. */
  readonly name: string;
  /** @throws PageError `sign_in_failed` if the provider cannot be reached */
  startRedirect(leaving: RedirectRequest): Promise<RedirectTarget>;
  /**
   * The person who returned; undefined if the provider does not know the person.
   * @throws PageError `sign_in_failed`, `sign_in_lost`, `sign_in_declined`, `profile_unusable`; StoreError
   */
  identify(arrival: ProviderCallback): Promise<Who | undefined>;
}

/** Web sign-in of an enterprise messaging app: it returns the app's user id, which the directory maps to a person. */
export interface MessagingAppSignIn extends RedirectSignIn<{ userId: string }> {
  /** Whether the page was opened inside the app. A hint for choosing the method, never proof of identity. */
  isOpenIn(userAgent: string): boolean;
  /** Whether the app treats its user ids as case-insensitive. */
  readonly ignoresCase: boolean;
}

/** Creates an app's web sign-in, with sealed storage shared by all processes (for the app's token). */
export type MakeMessagingApp = (store: Store) => MessagingAppSignIn;

/** The institution's identity provider: it returns the person with the profile. */
export interface InstitutionSignIn extends RedirectSignIn<{ person: Person }> {
  /** Identifies the provider, so that people of different providers are never confused. */
  readonly origin: string;
}

export type AnySignIn = MessagingAppSignIn | InstitutionSignIn;
