import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { PageError } from '../pages/page-error.ts';
import { csrfToken, isOwnForm } from './request-guards.ts';
import type { BrowserRequest } from './step.ts';

const CSRF_PURPOSE = 'sign-in-csrf';

/** The forms that we give to browsers, and know again (SECURITY.md same-origin-forms). */
export interface Forms {
  /** The token for a form that is given to the browser with this cookie, about this ticket. */
  token(cookie: string, ticketHash: string): string;
  /** @returns the cookie. @throws PageError page-expired unless the form is one that we gave to this browser for this ticket */
  demandOwn(request: BrowserRequest, ticketHash: string): string;
}

/** @param publicOrigin `https://HOST[:PORT]`, from which alone our forms are sent */
export function createForms(keyRing: KeyRing, publicOrigin: string): Forms {
  const newestKey = keyRing.deriveKey(CSRF_PURPOSE);
  // A form that was given out before a key rotation still counts.
  const csrfKeys = keyRing.deriveKeys(CSRF_PURPOSE);
  return {
    token: (cookie, ticketHash) => csrfToken(newestKey, cookie, ticketHash),
    demandOwn({ cookie, origin, secFetchSite, form }, ticketHash) {
      const post = { cookie, origin, secFetchSite, token: form['csrf'] };
      const isOwn = csrfKeys.some((key) => isOwnForm(post, { key, ticketHash, publicOrigin }));
      if (!isOwn || cookie === undefined) throw new PageError('page-expired');
      return cookie;
    },
  };
}
