import { OidcClient, type OidcClientOptions } from '../../../shared/sign-in/oidc-client.ts';
import { personFromClaims } from '../../../shared/sign-in/person-from-claims.ts';
import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { withPageErrors } from './as-page-error.ts';
import type { ProviderCallback, RedirectTarget, InstitutionSignIn, RedirectRequest } from './redirect-sign-in.ts';

export interface OidcOptions extends OidcClientOptions {
  profileMap: ProfileMap;
}

/** OpenID Connect's web sign-in: id token and userinfo together identify the person. */
export class OidcSignIn implements InstitutionSignIn {
  readonly name = 'oidc';
  readonly origin: string;
  readonly #profileMap: ProfileMap;
  readonly #client: OidcClient;

  constructor({ profileMap, ...client }: OidcOptions) {
    this.#profileMap = profileMap;
    this.#client = new OidcClient(client);
    this.origin = `oidc ${client.issuer}`;
  }

  startRedirect(leaving: RedirectRequest): Promise<RedirectTarget> {
    return withPageErrors(() => this.#client.startAuthorization(leaving));
  }

  identify({ callbackUrl, state, query, kept }: ProviderCallback) {
    return withPageErrors(async () => {
      const { accessToken, claims } = await this.#client.redeem({ callbackUrl, state, query, kept: kept ?? '{}' });
      const more = await this.#client.userInfo(accessToken, claims.sub);
      return { person: personFromClaims(this.#profileMap, { ...claims, ...more }) };
    });
  }
}
