import { SECOND_MS } from '../../../base/clock.ts';
import { definedOnly } from '../../../base/defined-only.ts';
import type { ProfileMap } from '../../profile-map-file.ts';
import { PageError } from '../sign-in-errors.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { personFromClaims } from './person-from-claims.ts';
import { readCasAnswer, type CasAnswer } from './read-cas-answer.ts';
import type { Arrival, Departure, InstitutionSignIn, Leaving } from './redirect-sign-in.ts';

export interface CasOptions {
  /** Base of the CAS server, `https://cas.example.edu/cas`, without a slash at the end. */
  url: string;
  profileMap: ProfileMap;
}

const CALL_TIMEOUT_MS = 5 * SECOND_MS;
/** Kept for the return: somebody asked to sign in as another person. */
const RENEWED = 'renew';
/** Printable ASCII (CAS protocol 3.0.3, section 3.7). */
const TICKET = /^[\x21-\x7e]{1,1024}$/;

/** CAS's web sign-in: a service ticket comes back, and the CAS server tells whose it is. */
export class CasSignIn implements InstitutionSignIn {
  readonly name = 'cas';
  readonly origin: string;
  readonly #options: CasOptions;

  constructor(options: CasOptions) {
    this.#options = options;
    this.origin = `cas ${options.url}`;
  }

  async leave({ callbackUrl, state, isAnew }: Leaving): Promise<Departure> {
    const asked = { service: serviceAddress(callbackUrl, state), renew: isAnew ? 'true' : undefined };
    const query = new URLSearchParams(definedOnly(asked));
    const location = `${this.#options.url}/login?${query.toString()}`;
    return isAnew ? { location, kept: RENEWED } : { location };
  }

  async identify({ callbackUrl, state, query, kept }: Arrival) {
    const ticket = query.get('ticket') ?? '';
    if (!TICKET.test(ticket)) throw new PageError('sign_in_lost', 'The return from CAS lacks its ticket');
    const validation = new URLSearchParams({ service: serviceAddress(callbackUrl, state), ticket });
    // CAS then takes no ticket that the session of whoever was there before gave.
    if (kept === RENEWED) validation.set('renew', 'true');
    const answer = await this.#validate(validation);
    if ('failure' in answer) throw refusal(answer.failure);
    return { person: personFromClaims(this.#options.profileMap, answer.claims) };
  }

  /** Protocol 3's address gives attributes too. A server that has none there has not seen the ticket yet, so the older one may. */
  async #validate(query: URLSearchParams): Promise<CasAnswer> {
    const newer = await this.#ask('/p3/serviceValidate', query);
    const { status, text } = newer.status === 404 ? await this.#ask('/serviceValidate', query) : newer;
    const answer = status === 200 ? readCasAnswer(text) : undefined;
    if (!answer) throw new PageError('sign_in_failed', `CAS gave an answer that makes no sense (HTTP ${status})`);
    return answer;
  }

  /** Errors of the HTTP client are dropped: they hold the address, and with it the ticket (SECURITY.md secrets-stay-inside). */
  async #ask(path: string, query: URLSearchParams): Promise<{ status: number; text: string }> {
    try {
      const answer = await boundedFetch(`${this.#options.url}${path}?${query.toString()}`, {
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        headers: { accept: 'application/xml, text/xml' },
      });
      return { status: answer.status, text: await answer.text() };
    } catch {
      throw new PageError('sign_in_failed', `CAS did not answer at ${path}`);
    }
  }
}

/** The state travels in the service's address, which CAS compares letter by letter when the ticket is redeemed. */
function serviceAddress(callbackUrl: string, state: string): string {
  return `${callbackUrl}?${new URLSearchParams({ state }).toString()}`;
}

/** The codes of CAS protocol 3.0.3, section 2.5.3; other texts stay out of the log. */
function refusal(code: string): PageError {
  if (code === 'INVALID_TICKET')
    return new PageError('sign_in_lost', 'CAS says that the ticket is not valid (any more)');
  const shown = /^[A-Z_]{1,40}$/.test(code) ? code : 'an unusual failure';
  return new PageError('sign_in_failed', `CAS refused: ${shown}`);
}
