import { createHash, createSign, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { MINUTE_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { sameSecret } from '../../shared/crypto/ids.ts';
import type { PersonView } from '../api.ts';
import { ShortLivedSecrets } from '../short-lived-secrets.ts';
import { memberIdOf, TEAM_ID, TEAM_NAME } from './workspace.ts';

/** The app as registered for Slack's web sign-in. */
export interface SlackClient {
  clientId: string;
  clientSecret: string;
}

export interface OpenIdOptions {
  client: SlackClient;
  /** The app's only registered redirect address. */
  redirectUri: string;
  /** The messenger's own address. */
  url(): string;
  nowMs: NowMs;
}

/** A sign-in that its person may allow. */
export interface SignInRequest {
  nonce: string | undefined;
  state: string;
}

/** Slack's error codes for rejected calls of the web sign-in. */
export type OpenIdFault =
  | 'invalid_client_id'
  | 'bad_client_secret'
  | 'bad_redirect_uri'
  | 'invalid_grant_type'
  | 'invalid_code'
  | 'invalid_scope'
  | 'invalid_team'
  | 'invalid_arguments';

/** How long a page waits for the person's decision. */
const QUESTION_LIFE_MS = 10 * MINUTE_MS;
const CODE_LIFE_MS = 10 * MINUTE_MS;
const ID_TOKEN_LIFE_SEC = 300;
const ACCESS_TOKEN_LIFE_MS = 60 * MINUTE_MS;
const KEY_ID = 'parley-local';
const SCOPES = new Set(['openid', 'profile', 'email']);

/**
 * Sign in with Slack (PLATFORM_FACTS.md slack-web-sign-in), as strict as Slack. Kept in memory: after a restart people must
 * start again.
 */
export class OpenId {
  readonly #options: OpenIdOptions;
  readonly #questions: ShortLivedSecrets<SignInRequest & { person: PersonView }>;
  readonly #codes: ShortLivedSecrets<{ person: PersonView; nonce: string | undefined }>;
  readonly #accessTokens: ShortLivedSecrets<PersonView>;
  #keys: Promise<{ publicKey: KeyObject; privateKey: KeyObject }> | undefined;

  constructor(options: OpenIdOptions) {
    this.#options = options;
    const { nowMs } = options;
    this.#questions = new ShortLivedSecrets(nowMs, QUESTION_LIFE_MS);
    this.#codes = new ShortLivedSecrets(nowMs, CODE_LIFE_MS);
    this.#accessTokens = new ShortLivedSecrets(nowMs, ACCESS_TOKEN_LIFE_MS);
  }

  /** Validates a request to the authorize address. If it is rejected, the browser is not redirected. */
  judge(query: URLSearchParams): SignInRequest | OpenIdFault {
    const names = [...query.keys()];
    if (new Set(names).size !== names.length) return 'invalid_arguments';
    if (query.get('client_id') !== this.#options.client.clientId) return 'invalid_client_id';
    if (query.get('redirect_uri') !== this.#options.redirectUri) return 'bad_redirect_uri';
    if (query.get('response_type') !== 'code') return 'invalid_arguments';
    const scopes = (query.get('scope') ?? '').split(/[ ,]+/);
    if (!scopes.includes('openid') || !scopes.every((scope) => SCOPES.has(scope))) return 'invalid_scope';
    if ((query.get('team') ?? TEAM_ID) !== TEAM_ID) return 'invalid_team';
    return { nonce: query.get('nonce') ?? undefined, state: query.get('state') ?? '' };
  }

  /** Creates a consent question. @returns the code for answering it, once */
  ask(request: SignInRequest, person: PersonView): string {
    return this.#questions.issue({ ...request, person });
  }

  /**
   * Where the browser is redirected after the person's decision; undefined for a question of another person, or one that has
   * expired.
   */
  decide(question: string, person: PersonView, isAllowed: boolean): string | undefined {
    const asked = this.#questions.take(question);
    if (asked?.person.id !== person.id) return undefined;
    const back = new URL(this.#options.redirectUri);
    const { nonce, state } = asked;
    if (isAllowed) back.searchParams.set('code', this.#codes.issue({ person, nonce }));
    else back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', state);
    return back.href;
  }

  /** POST openid.connect.token: a code can be used only once, whatever the result. */
  async token(form: Readonly<Record<string, unknown>>): Promise<object | OpenIdFault> {
    const { client, redirectUri, url, nowMs } = this.#options;
    const { client_id: id, client_secret: secret, code, grant_type: grant, redirect_uri: redirect } = form;
    if (id !== client.clientId) return 'invalid_client_id';
    if (typeof secret !== 'string' || !sameSecret(secret, client.clientSecret)) return 'bad_client_secret';
    if (grant !== 'authorization_code') return 'invalid_grant_type';
    const issued = this.#codes.take(String(code));
    if (!issued) return 'invalid_code';
    if (redirect !== redirectUri) return 'bad_redirect_uri';
    const { person, nonce } = issued;
    const accessToken = `xoxp-${this.#accessTokens.issue(person)}`;
    const nowSec = Math.floor(nowMs() / SECOND_MS);
    const claims = {
      ...{ iss: url(), aud: client.clientId, ...userClaims(person), nonce },
      ...{ iat: nowSec, auth_time: nowSec, exp: nowSec + ID_TOKEN_LIFE_SEC, at_hash: halfHash(accessToken) },
    };
    return { access_token: accessToken, token_type: 'Bearer', id_token: await this.#sign(claims) };
  }

  /** Response of openid.connect.userInfo for an access token; undefined for an invalid one. */
  userInfo(accessToken: string): object | undefined {
    const person = this.#accessTokens.find(accessToken.replace(/^xoxp-/, ''));
    return person && { ...userClaims(person), 'https://slack.com/team_name': TEAM_NAME, name: person.name };
  }

  /** Public keys that verify its id tokens. */
  async keySet(): Promise<object> {
    const { publicKey } = await this.#keyPair();
    return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }] };
  }

  async #sign(claims: object): Promise<string> {
    const { privateKey } = await this.#keyPair();
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: KEY_ID })}.${encode(claims)}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
  }

  /** Created on first use, because it takes a moment. */
  #keyPair() {
    return (this.#keys ??= promisify(generateKeyPair)('rsa', { modulusLength: 2_048 }));
  }
}

function userClaims({ id }: PersonView): Record<string, string> {
  const memberId = memberIdOf(id);
  return { sub: memberId, 'https://slack.com/user_id': memberId, 'https://slack.com/team_id': TEAM_ID };
}

/** OpenID Connect Core section 3.1.3.6. */
function halfHash(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');
}
