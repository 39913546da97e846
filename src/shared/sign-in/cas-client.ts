import { HOUR_MS, SECOND_MS } from '../clock.ts';
import { definedOnly } from '../defined-only.ts';
import { randomToken } from '../crypto/ids.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { decodeText } from './decode-text.ts';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';
import { readCasAnswer, type CasAnswer } from './read-cas-answer.ts';

const CALL_TIMEOUT_MS = 5 * SECOND_MS;
/** Printable ASCII (CAS protocol 3.0.3, section 3.7). */
const TICKET = /^[\x21-\x7e]{1,3072}$/;
/** Of the protocols 3, 2 and 1. The first gives attributes everywhere, the last none. */
const VALIDATION_PATHS = ['/p3/serviceValidate', '/serviceValidate', '/validate'] as const;
/** How long the validation address is remembered, so that an update of the server is noticed. */
const PATH_LIFE_MS = HOUR_MS;
/** Made-up tickets begin so, for the operator of the CAS server who reads its log. */
const MADE_UP_TICKET = 'ST-parley-made-up-';

/** Where tickets are validated, and the code with which the server refuses a made-up ticket. */
interface Validation {
  path: (typeof VALIDATION_PATHS)[number];
  /** Absent where the server accepts made-up tickets: `check` reports that, since anybody can sign in there as anybody. */
  failure?: string;
}

interface Visit {
  callbackUrl: string;
  state: string;
  /** CAS ignores the session of the previous person. */
  isAnew?: boolean;
}

/** A CAS server: a service ticket comes back, and the server says to whom it belongs. */
export class CasClient {
  readonly #url: string;
  #known: (Validation & { atMs: number }) | undefined;

  /** @param url base of the server, `https://cas.example.edu/cas` */
  constructor(url: string) {
    this.#url = url.replace(/(?<!\/)\/+$/, '');
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

  /** Redeems a ticket; each ticket is sent once. @throws ProviderError `lost`, `failed`, `timeout`, `unreachable` */
  async claimsOf(ticket: string, { callbackUrl, state, isAnew = false }: Visit): Promise<Claims> {
    if (!TICKET.test(ticket)) throw new ProviderError('lost', 'The return from CAS has no usable ticket');
    const { path } = await this.findValidation(callbackUrl);
    const validation = new URLSearchParams({ service: serviceAddress(callbackUrl, state), ticket });
    // CAS then refuses tickets from the session of the previous person.
    if (isAnew) validation.set('renew', 'true');
    const { answer, status } = await this.#validate(path, validation);
    if (!answer) {
      this.#known = undefined;
      throw new ProviderError(
        'failed',
        `CAS answered at ${path} with something else than a validation (HTTP ${status})`,
      );
    }
    if ('failure' in answer) throw refusal(answer.failure);
    return answer.claims;
  }

  /**
   * Finds the newest validation address that the server has, by a made-up ticket: a real ticket would be spent at the first
   * address that looks at it.
   * @throws ProviderError `failed`, `timeout`, `unreachable`
   */
  async findValidation(callbackUrl: string): Promise<Validation> {
    if (this.#known && performance.now() - this.#known.atMs < PATH_LIFE_MS) return this.#known;
    const service = serviceAddress(callbackUrl, '0'.repeat(64));
    const statuses: string[] = [];
    for (const path of VALIDATION_PATHS) {
      const ticket = `${MADE_UP_TICKET}${randomToken(12)}`;
      const { answer, status } = await this.#validate(path, new URLSearchParams({ service, ticket }));
      if (answer) {
        this.#known = { path, failure: 'failure' in answer ? answer.failure : undefined, atMs: performance.now() };
        return this.#known;
      }
      statuses.push(`${path} ${status}`);
    }
    throw new ProviderError('failed', `CAS answers at no validation address (${statuses.join(', ')})`);
  }

  /** Errors of the HTTP client are dropped: they hold the address, and with it the ticket (SECURITY.md secrets-stay-inside). */
  async #validate(
    path: Validation['path'],
    query: URLSearchParams,
  ): Promise<{ status: number; answer: CasAnswer | undefined }> {
    try {
      const response = await boundedFetch(`${this.#url}${path}?${query.toString()}`, {
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        headers: { accept: 'application/xml, text/xml;q=0.9, */*;q=0.1' },
      });
      const { status } = response;
      const text = decodeText(new Uint8Array(await response.arrayBuffer()), response.headers.get('content-type'));
      const answer = readCasAnswer(text);
      return { status, answer: status === 200 || (answer && 'failure' in answer) ? answer : undefined };
    } catch (thrown) {
      if (thrown instanceof RangeError) throw new ProviderError('failed', `CAS answered too much at ${path}`);
      const isSlow = thrown instanceof DOMException && thrown.name === 'TimeoutError';
      throw new ProviderError(isSlow ? 'timeout' : 'unreachable', `CAS did not answer at ${path}`);
    }
  }
}

/** The state is part of the service address, which CAS compares character by character when the ticket is redeemed. */
function serviceAddress(callbackUrl: string, state: string): string {
  return `${callbackUrl}?${new URLSearchParams({ state }).toString()}`;
}

/** The codes of CAS protocol 3.0.3, section 2.5.3; other texts stay out of the log. */
function refusal(code: string): ProviderError {
  if (code === 'INVALID_TICKET') return new ProviderError('lost', 'CAS says that the ticket is not valid (any more)');
  const shown = /^[A-Z_]{1,40}$/.test(code) ? code : 'an unusual failure';
  return new ProviderError('failed', `CAS refused: ${shown}`);
}
