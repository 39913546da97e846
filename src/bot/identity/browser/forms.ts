import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { PageError } from '../pages/page-error.ts';
import { csrfToken, isOwnForm } from './request-guards.ts';
import type { BrowserRequest } from './step.ts';

const CSRF_PURPOSE = 'sign-in-csrf';

/** Issues form tokens and verifies them (SECURITY.md same-origin-forms). */
export interface Forms {
  token(cookie: string, ticketHash: string): string;
  /**
   * @returns the cookie
   * @throws PageError page-expired unless the form was issued to this browser for this invitation
   */
  requireOwnForm(request: BrowserRequest, ticketHash: string): string;
}

/** @param publicOrigin `https://HOST[:PORT]`, the only accepted origin of forms */
export function createForms(keyRing: KeyRing, publicOrigin: string): Forms {
  const newestKey = keyRing.deriveKey(CSRF_PURPOSE);
  // Forms issued before a key rotation remain valid.
  const csrfKeys = keyRing.deriveKeys(CSRF_PURPOSE);
  return {
    token: (cookie, ticketHash) => csrfToken(newestKey, cookie, ticketHash),
    requireOwnForm({ cookie, origin, secFetchSite, form }, ticketHash) {
      const post = { cookie, origin, secFetchSite, token: form['csrf'] };
      const isOwn = csrfKeys.some((key) => isOwnForm(post, { key, ticketHash, publicOrigin }));
      if (!isOwn || cookie === undefined) throw new PageError('page-expired');
      return cookie;
    },
  };
}
