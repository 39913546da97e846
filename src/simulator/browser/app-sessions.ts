import { randomToken, sameSecret } from '../../shared/crypto/ids.ts';

/** Header with which the in-app browser identifies its person to the messenger. Sent only to the messenger's origin. */
export const APP_SESSION_HEADER = 'x-messenger-session';

/**
 * Proof for the app's web sign-in that a request comes from a person's own in-app browser: a random secret per person, sent
 * in a header. A cookie would not work, because cookies of a host are sent to all of its ports.
 */
export class AppSessions {
  readonly #secrets = new Map<string, string>();

  secretOf(personId: string): string {
    const secret = this.#secrets.get(personId) ?? randomToken();
    this.#secrets.set(personId, secret);
    return secret;
  }

  personOf(secret: string | undefined): string | undefined {
    if (secret === undefined) return undefined;
    return [...this.#secrets].find(([, known]) => sameSecret(known, secret))?.[0];
  }
}
