import { CasClient } from '../../../shared/sign-in/cas-client.ts';
import { personFromClaims } from '../../../shared/sign-in/person-from-claims.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { withPageErrors } from './as-page-error.ts';
import type { ProviderCallback, RedirectTarget, InstitutionSignIn, RedirectRequest } from './redirect-sign-in.ts';

export interface CasOptions {
  /** Base URL of the CAS server, `https://cas.example.edu/cas`, without a trailing slash. */
  url: string;
  profileMap: ProfileMap;
}

/** Kept for the return: the person asked to sign in as another person. */
const RENEWED = 'renew';

/** CAS's web sign-in: the browser returns with a service ticket, and the CAS server tells whose it is. */
export class CasSignIn implements InstitutionSignIn {
  readonly name = 'cas';
  readonly origin: string;
  readonly #profileMap: ProfileMap;
  readonly #client: CasClient;

  constructor({ url, profileMap }: CasOptions) {
    this.#profileMap = profileMap;
    this.#client = new CasClient(url);
    this.origin = `cas ${url}`;
  }

  async startRedirect(leaving: RedirectRequest): Promise<RedirectTarget> {
    const location = this.#client.loginUrl(leaving);
    return leaving.forcesLogin ? { location, kept: RENEWED } : { location };
  }

  identify({ callbackUrl, state, query, kept }: ProviderCallback) {
    return withPageErrors(async () => {
      const visit = { callbackUrl, state, forcesLogin: kept === RENEWED };
      const claims = await this.#client.claimsOf(query.get('ticket') ?? '', visit);
      return { person: personFromClaims(this.#profileMap, claims) };
    });
  }
}
