import { abortAfter } from '../abort-after.ts';
import { HOUR_MS, SECOND_MS } from '../clock.ts';
import { definedOnly } from '../defined-only.ts';
import { randomToken } from '../crypto/ids.ts';
import { decodeBytes } from '../text/decode-bytes.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';
import { parseCasResponse, type CasResponse } from './read-cas-answer.ts';

/** Number of bytes in which an XML declaration has to end. */
const DECLARATION_BYTES = 256;

/**
 * Decodes an HTTP body: by its byte order mark, else the charset of the header, else an XML declaration, else UTF-8. An
 * unknown encoding counts as UTF-8.
 */
function decodeText(bytes: Uint8Array, contentType: string | null): string {
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType ?? '')?.[1];
  const label = [markOf(bytes), named, declaredIn(bytes)].find(isKnown);
  return decodeBytes(bytes, label);
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1');
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(beginning)?.[1];
}

function isKnown(label: string | undefined): label is string {
  try {
    return label !== undefined && new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

const CALL_TIMEOUT_MS = 5 * SECOND_MS;
/** Printable ASCII (CAS protocol 3.0.3, section 3.7). */
const TICKET = /^[\x21-\x7e]{1,3072}$/;
/** Validation paths of CAS protocols 3, 2 and 1. The first always returns attributes, the last none. */
const VALIDATION_PATHS = ['/p3/serviceValidate', '/serviceValidate', '/validate'] as const;
/** Cache lifetime of the validation path, so that an update of the server is noticed. */
const PATH_LIFE_MS = HOUR_MS;
/** Prefix of made-up tickets, to explain them to the operator who reads the CAS server's log. */
const MADE_UP_TICKET = 'ST-parley-made-up-';

/** Validation path, and the code with which the server rejects a made-up ticket. */
interface Validation {
  path: (typeof VALIDATION_PATHS)[number];
  /** Absent if the server accepts made-up tickets. `check` reports that, because anyone could sign in as anyone. */
  failure?: string;
}

interface Visit {
  callbackUrl: string;
  state: string;
  /** CAS ignores the session of the previous person. */
  forcesLogin?: boolean;
}

/** Client of a CAS server: the browser returns with a service ticket, and the server tells whose it is. */
export class CasClient {
  readonly #url: string;
  #known: (Validation & { atMs: number }) | undefined;

  /** @param url base URL of the server, `https://cas.example.edu/cas` */
  constructor(url: string) {
    this.#url = url.replace(/(?<!\/)\/+$/, '');
  }

  /** Address for signing in with a browser. */
  loginUrl({ callbackUrl, state, forcesLogin = false }: Visit): string {
    const asked = { service: serviceAddress(callbackUrl, state), renew: forcesLogin ? 'true' : undefined };
    const query = new URLSearchParams(definedOnly(asked));
    return `${this.#url}/login?${query.toString()}`;
  }

  /** Address for signing out with a browser (CAS protocol 3.0.3, section 2.3). */
  logoutUrl(returnTo: string): string {
    return `${this.#url}/logout?${new URLSearchParams({ service: returnTo }).toString()}`;
  }

  /** Redeems a ticket. Each ticket is sent only once. @throws ProviderError `lost`, `failed`, `timeout`, `unreachable` */
  async claimsOf(ticket: string, { callbackUrl, state, forcesLogin = false }: Visit): Promise<Claims> {
    if (!TICKET.test(ticket)) throw new ProviderError('lost', 'The return from CAS has no usable ticket');
    const { path } = await this.findValidation(callbackUrl);
    const validation = new URLSearchParams({ service: serviceAddress(callbackUrl, state), ticket });
    // CAS then rejects tickets from the session of the previous person.
    if (forcesLogin) validation.set('renew', 'true');
    const { answer, status } = await this.#validate(path, validation);
    if (!answer) {
      this.#known = undefined;
      throw new ProviderError('failed', `CAS answered at ${path} with an unexpected document (HTTP ${status})`);
    }
    if ('failure' in answer) throw refusal(answer.failure);
    return answer.claims;
  }

  /**
   * Finds the newest validation path that the server supports, with a made-up ticket: a real ticket would be used up by the
   * first attempt.
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
    throw new ProviderError('failed', `CAS has no validation address (${statuses.join(', ')})`);
  }

  /** Drops errors of the HTTP client: they contain the address, including the ticket (SECURITY.md secrets-stay-inside). */
  async #validate(
    path: Validation['path'],
    query: URLSearchParams,
  ): Promise<{ status: number; answer: CasResponse | undefined }> {
    try {
      const response = await boundedFetch(`${this.#url}${path}?${query.toString()}`, {
        signal: abortAfter(CALL_TIMEOUT_MS),
        headers: { accept: 'application/xml, text/xml;q=0.9, */*;q=0.1' },
      });
      const { status } = response;
      const text = decodeText(new Uint8Array(await response.arrayBuffer()), response.headers.get('content-type'));
      const answer = parseCasResponse(text);
      return { status, answer: status === 200 || (answer && 'failure' in answer) ? answer : undefined };
    } catch (thrown) {
      if (thrown instanceof RangeError) throw new ProviderError('failed', `CAS returned too much data at ${path}`);
      const isSlow = thrown instanceof DOMException && thrown.name === 'TimeoutError';
      throw new ProviderError(isSlow ? 'timeout' : 'unreachable', `CAS did not answer at ${path}`);
    }
  }
}

/** The state is part of the service address, which CAS compares character by character when the ticket is redeemed. */
function serviceAddress(callbackUrl: string, state: string): string {
  return `${callbackUrl}?${new URLSearchParams({ state }).toString()}`;
}

/** Codes of CAS protocol 3.0.3, section 2.5.3. Other texts are not logged. */
function refusal(code: string): ProviderError {
  if (code === 'INVALID_TICKET') return new ProviderError('lost', 'CAS says that the ticket is invalid or expired');
  const shown = /^[A-Z_]{1,40}$/.test(code) ? code : 'an unknown error';
  return new ProviderError('failed', `CAS refused: ${shown}`);
}
