import { SECOND_MS } from '../base/clock.ts';
import { definedOnly } from '../base/defined-only.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';
import { readCasAnswer, type CasAnswer } from './read-cas-answer.ts';

const CALL_TIMEOUT_MS = 5 * SECOND_MS;
/** Printable ASCII (CAS protocol 3.0.3, section 3.7). */
const TICKET = /^[\x21-\x7e]{1,1024}$/;

interface Visit {
  callbackUrl: string;
  state: string;
  /** CAS takes no session of whoever was there before. */
  isAnew?: boolean;
}

/** A CAS server: a service ticket comes back, and the server tells whose it is. */
export class CasClient {
  readonly #url: string;

  /** @param url base of the server, `https://cas.example.edu/cas` */
  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  /** Where a browser is sent to sign in. */
  loginUrl({ callbackUrl, state, isAnew = false }: Visit): string {
    const asked = { service: serviceAddress(callbackUrl, state), renew: isAnew ? 'true' : undefined };
    const query = new URLSearchParams(definedOnly(asked));
    return `${this.#url}/login?${query.toString()}`;
  }

  /** Where a browser signs out (CAS protocol 3.0.3, section 2.3). */
  logoutUrl(returnTo: string): string {
    return `${this.#url}/logout?${new URLSearchParams({ service: returnTo }).toString()}`;
  }

  /** Whose ticket it is; asked once. @throws ProviderError `lost`, `failed`, `timeout`, `unreachable` */
  async claimsOf(ticket: string, { callbackUrl, state, isAnew = false }: Visit): Promise<Claims> {
    if (!TICKET.test(ticket)) throw new ProviderError('lost', 'The return from CAS lacks its ticket');
    const validation = new URLSearchParams({ service: serviceAddress(callbackUrl, state), ticket });
    // CAS then takes no ticket that the session of whoever was there before gave.
    if (isAnew) validation.set('renew', 'true');
    const answer = await this.validate(validation);
    if ('failure' in answer) throw refusal(answer.failure);
    return answer.claims;
  }

  /**
   * Protocol 3's address gives attributes too. A server that has none there has not seen the ticket yet, so the older one may.
   * @throws ProviderError `failed`, `timeout`, `unreachable`
   */
  async validate(query: URLSearchParams): Promise<CasAnswer> {
    const newer = await this.#ask('/p3/serviceValidate', query);
    const { status, text } = newer.status === 404 ? await this.#ask('/serviceValidate', query) : newer;
    const answer = status === 200 ? readCasAnswer(text) : undefined;
    if (!answer) throw new ProviderError('failed', `CAS gave an answer that makes no sense (HTTP ${status})`);
    return answer;
  }

  /** Errors of the HTTP client are dropped: they hold the address, and with it the ticket (SECURITY.md secrets-stay-inside). */
  async #ask(path: string, query: URLSearchParams): Promise<{ status: number; text: string }> {
    try {
      const answer = await boundedFetch(`${this.#url}${path}?${query.toString()}`, {
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        headers: { accept: 'application/xml, text/xml' },
      });
      return { status: answer.status, text: await answer.text() };
    } catch (thrown) {
      if (thrown instanceof RangeError) throw new ProviderError('failed', `CAS answered too much at ${path}`);
      const isSlow = thrown instanceof DOMException && thrown.name === 'TimeoutError';
      throw new ProviderError(isSlow ? 'timeout' : 'unreachable', `CAS did not answer at ${path}`);
    }
  }
}

/** The state travels in the service's address, which CAS compares letter by letter when the ticket is redeemed. */
function serviceAddress(callbackUrl: string, state: string): string {
  return `${callbackUrl}?${new URLSearchParams({ state }).toString()}`;
}

/** The codes of CAS protocol 3.0.3, section 2.5.3; other texts stay out of the log. */
function refusal(code: string): ProviderError {
  if (code === 'INVALID_TICKET') return new ProviderError('lost', 'CAS says that the ticket is not valid (any more)');
  const shown = /^[A-Z_]{1,40}$/.test(code) ? code : 'an unusual failure';
  return new ProviderError('failed', `CAS refused: ${shown}`);
}
