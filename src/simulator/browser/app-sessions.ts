import { randomToken, sameSecret } from '../../shared/crypto/ids.ts';

/** The header by which the in-app browser tells the messenger whose it is. It goes to the messenger's origin only. */
export const APP_SESSION_HEADER = 'x-messenger-session';

/**
 * What proves to the app's web sign-in that a request comes from a person's own in-app browser: a random secret for each
 * person, sent in a header. A cookie would not do, since cookies of one host go to all of its ports.
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
