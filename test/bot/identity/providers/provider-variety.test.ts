import { constants, createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkSignIn } from '../../../../src/cli/check/check-sign-in.ts';
import { startTestRedis, type TestRedis } from '../../../support/redis.ts';
import { startIdentityFixture, type IdentityFixture } from '../identity-fixture.ts';
import { keySet, signIdToken, startOidcStandIn, type Mischief, type OidcStandIn } from './oidc-stand-in.ts';

let server: TestRedis;
let provider: OidcStandIn;
let fixture: IdentityFixture;
beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => {
  provider = await startOidcStandIn();
});
afterEach(() => Promise.all([fixture.close(), provider.close()]));
afterAll(() => server.stop());

interface Setup {
  issuer?: string;
  secret?: string;
  clientAuth?: 'client_secret_basic' | 'client_secret_basic_raw' | 'client_secret_post';
}

/** Signs in once. @returns the name on the last page, or the status of the refusal with the log */
async function signIn(mischief: Mischief, { issuer = provider.url, secret, clientAuth }: Setup = {}): Promise<string> {
  provider.mischief = mischief;
  const clientSecret = secret ?? provider.clientSecret;
  fixture = await startIdentityFixture(server.redis, {
    provider: { ...provider, url: issuer, clientSecret },
    signIn: { type: 'oidc', proof: ['same-id'], clientAuth },
  });
  const confirm = await fixture.walkToConfirm(fixture.browser('20001'), await fixture.link('20001'));
  if (confirm.status !== 200) return `${confirm.status} ${fixture.lines.join('\n')}`;
  const browser = fixture.browser('20001');
  const done = await fixture.walk(browser, await fixture.link('20001', true));
  return /You are signed in as ([^.<]*)/.exec(done.text)?.[1] ?? `HTTP ${done.status}`;
}

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}
const RSA: Pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const OTHER_RSA: Pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const WEAK_RSA: Pair = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const [P256, P384, P521] = ['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve }));
const ED25519: Pair = generateKeyPairSync('ed25519');
const ED448: Pair = generateKeyPairSync('ed448');

const jwkOf = ({ publicKey }: Pair, more: object = {}) => ({ ...publicKey.export({ format: 'jwk' }), ...more });
const keysAnswer = (...keys: unknown[]) => ({ '/jwks': { body: JSON.stringify({ keys }) } });

function signer(alg: string, { privateKey: key }: Pair): Mischief['sign'] {
  const isPss = alg.startsWith('PS');
  const padding = isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const how = /^[RP]S/.test(alg)
    ? { key, padding, saltLength: isPss ? constants.RSA_PSS_SALTLEN_DIGEST : undefined }
    : ({ key, dsaEncoding: 'ieee-p1363' } as const);
  const hash = alg.startsWith('Ed') ? undefined : `sha${alg.slice(2)}`;
  return { alg, by: (text) => sign(hash, Buffer.from(text), how) };
}

const ALGORITHMS: [string, Pair | undefined][] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg): [string, Pair] => [alg, RSA]),
  ['ES256', P256],
  ['ES384', P384],
  ['ES512', P521],
  ['EdDSA', ED25519],
  ['EdDSA', ED448],
  ['Ed25519', ED25519],
];

describe('id token algorithms of real providers [checked-id-tokens]', () => {
  test.each(ALGORITHMS)('%s: accepted, whether the discovery lists it or not', async (alg, pair = RSA) => {
    const mischief = { sign: signer(alg, pair), answers: keysAnswer(jwkOf(pair, { kid: 'k1' })) };
    const discovery = { id_token_signing_alg_values_supported: alg.startsWith('PS') ? undefined : ['RS256'] };
    expect(await signIn({ ...mischief, discovery })).toBe('Person 20001');
  });

  const SECRET = 'a-secret-of-at-least-thirty-two-bytes';
  const byHmac = (secret: string): Mischief['sign'] => ({
    alg: 'HS256',
    by: (text) => createHmac('sha256', secret).update(text).digest(),
  });
  const listed = (...names: string[]) => ({ id_token_signing_alg_values_supported: names });

  test('HS256 alone with a long secret: accepted', async () => {
    expect(await signIn({ sign: byHmac(SECRET), discovery: listed('HS256') }, { secret: SECRET })).toBe('Person 20001');
  });

  test.each<[string, Mischief, string]>([
    ['HS256 beside a public key', { sign: byHmac(SECRET), discovery: listed('HS256', 'RS256') }, SECRET],
    ['HS256 with a short secret', { sign: byHmac('short'), discovery: listed('HS256') }, 'short'],
    ['HS256 with another secret', { sign: byHmac('x'.repeat(40)), discovery: listed('HS256') }, SECRET],
    [
      'HS256 with the public key as its secret',
      {
        sign: byHmac(RSA.publicKey.export({ format: 'pem', type: 'spki' }).toString()),
        answers: keysAnswer(jwkOf(RSA, { kid: 'k1' })),
        discovery: listed('RS256', 'HS256'),
      },
      SECRET,
    ],
    ['none', { signedBy: 'nobody', discovery: listed('none', 'RS256') }, SECRET],
    ['a key of 1,024 bits', { sign: signer('RS256', WEAK_RSA), answers: keysAnswer(jwkOf(WEAK_RSA)) }, SECRET],
    [
      'a curve of another algorithm',
      { sign: signer('ES256', P384 ?? RSA), answers: keysAnswer(jwkOf(P384 ?? RSA)) },
      SECRET,
    ],
    ['a key for encryption', { answers: keysAnswer(jwkOf(RSA, { use: 'enc' })), sign: signer('RS256', RSA) }, SECRET],
    ['critical extensions', { header: { crit: ['x'], x: 1 } }, SECRET],
  ])('%s: refused, with the cause in the log', async (_what, mischief, secret) => {
    expect(await signIn(mischief, { secret })).toMatch(/^502 .*(not signed with (any|an accepted)|UNSUPPORTED)/s);
  });
});

describe('irregular key sets', () => {
  const foreign = jwkOf(OTHER_RSA, { kid: 'k1' });
  const ours = (keySet() as { keys: object[] }).keys;
  const bare = ours.map((key) => ({ ...key, kid: undefined, use: undefined, alg: undefined }));
  const SETS: [string, unknown[], Record<string, unknown>][] = [
    ['keys of unknown kinds', [{ kty: 'AKP', kid: 'k1', pub: 'AA' }, { kty: 'oct', k: 'AA' }, null, 'x', ...ours], {}],
    ['two keys of one id', [foreign, ...ours], {}],
    ['the same key twice', [...ours, ...ours], {}],
    ['no ids at all', [{ ...foreign, kid: undefined }, ...bare], { kid: undefined }],
    ['an id in the token alone', [jwkOf(P256 ?? RSA), ...bare], {}],
    ['ids in the set alone', [foreign, ...ours], { kid: undefined }],
    ['a broken key first', [{ kty: 'RSA', kid: 'k1', n: '!', e: 'AQAB' }, ...ours], {}],
  ];
  test.each(SETS)('%s: the token is accepted', async (_what, keys, header) => {
    expect(await signIn({ answers: keysAnswer(...keys), header })).toBe('Person 20001');
  });

  test('no key signed the token: refused with the reason, whatever key ids are present [checked-id-tokens]', async () => {
    const answers = keysAnswer(jwkOf(OTHER_RSA), jwkOf(OTHER_RSA, { kid: 'k1' }), jwkOf(P256 ?? RSA));
    expect(await signIn({ answers, header: { kid: undefined } })).toContain(
      'not signed with any of its published keys',
    );
  });
});

describe('token and user responses of real providers', () => {
  const groups = Array.from({ length: 900 }, (_, n) => `CN=group-${n},OU=campus`);
  const user = (body: string, type: string): Mischief => ({ answers: { '/me': { body, type } } });
  const person = { sub: '20001', name: 'Li Lei' };
  const jwt = (claims: object, how: Mischief = {}) => signIdToken({ ...person, ...claims }, how);
  const ACCEPTED: [string, () => Mischief, string?][] = [
    [
      'an access token of 16 KiB',
      () => ({
        token: { access_token: `AT:${'a'.repeat(16_381)}` },
        ...user(JSON.stringify(person), 'application/json'),
      }),
      'Li Lei',
    ],
    ['a refresh token of 16 KiB', () => ({ token: { refresh_token: 'r'.repeat(16_384) } })],
    ['an id token with hundreds of groups', () => ({ claims: { groups } })],
    ['a life as a text', () => ({ token: { expires_in: '3600' } })],
    ['a life as a fraction', () => ({ token: { expires_in: 3599.9 } })],
    ['a life that is no number', () => ({ token: { expires_in: 'soon' } })],
    ['no life', () => ({ token: { expires_in: undefined } })],
    ['a life of null', () => ({ token: { expires_in: null } })],
    ['a negative life', () => ({ token: { expires_in: -1 } })],
    ['a token type in capitals', () => ({ token: { token_type: 'BEARER' } })],
    ['a scope as a list', () => ({ token: { scope: ['openid', 'profile'] } })],
    ['a scope of null', () => ({ token: { scope: null } })],
    ['a refresh token of null', () => ({ token: { refresh_token: null } })],
    ['an error of false', () => ({ token: { error: false } })],
    ['an empty error', () => ({ token: { error: null, error_description: null } })],
    ['unknown members', () => ({ token: { ext_expires_in: 7, foo: { bar: [1] } } })],
    ['one audience in a list', () => ({ claims: { aud: ['parley'] } })],
    ['several audiences with us as party', () => ({ claims: { aud: ['parley', 'api'], azp: 'parley' } })],
    ['no user address', () => ({ discovery: { userinfo_endpoint: undefined }, claims: { name: 'Li Lei' } }), 'Li Lei'],
    ...[null, ''].map((nothing): [string, () => Mischief, string] => [
      `a discovery with ${JSON.stringify(nothing)} for what is missing`,
      () => ({
        discovery: { userinfo_endpoint: nothing, token_endpoint_auth_methods_supported: null },
        claims: { name: 'Li Lei' },
      }),
      'Li Lei',
    ]),
    ['a user answer with a charset', () => user(JSON.stringify(person), 'application/json;charset=UTF-8'), 'Li Lei'],
    ['a user answer as text/html', () => user(`\uFEFF${JSON.stringify(person)}`, 'text/html'), 'Li Lei'],
    [
      'a subject as a number in the user answer',
      () => user(JSON.stringify({ ...person, sub: 20001 }), 'application/json'),
      'Li Lei',
    ],
    ['a wrapped user answer', () => user(JSON.stringify({ code: 0, data: person }), 'application/json'), 'Li Lei'],
    ['a signed user answer', () => user(jwt({ iss: provider.url, aud: 'parley' }), 'application/jwt'), 'Li Lei'],
    ['a signed user answer of another type', () => user(`${jwt({})}\n`, 'text/plain; charset=utf-8'), 'Li Lei'],
  ];
  test.each(ACCEPTED)('%s: accepted', async (_what, mischief, name = 'Person 20001') => {
    expect(await signIn(mischief())).toBe(name);
  });

  const REFUSED: [string, () => Mischief, string][] = [
    ['an access token of 40 KiB', () => ({ token: { access_token: 'a'.repeat(40_000) } }), 'token of more than 32 KiB'],
    [
      'a subject as a number in the id token',
      () => ({ claims: { sub: 20001 } }),
      'the subject is missing or not a string',
    ],
    ['several audiences without us as party', () => ({ claims: { aud: ['parley', 'api'] } }), 'azp|aud'],
    ['another party', () => ({ claims: { aud: ['parley', 'api'], azp: 'api' } }), 'azp'],
    ['an expired id token', () => ({ claims: { exp: 1_000_000 } }), 'compare the clocks'],
    ['an id token that is not yet valid', () => ({ claims: { nbf: 4_000_000_000 } }), 'compare the clocks'],
    ['another issuer', () => ({ claims: { iss: 'https://evil.example' } }), 'another issuer'],
    [
      'an error with status 200',
      () => ({ answers: { '/token': { body: '{"error":"invalid_client"}' } } }),
      'invalid_client',
    ],
    ['an error beside tokens', () => ({ token: { error: 'server_error' } }), 'server_error'],
    ['HTML with status 200', () => ({ answers: { '/token': { body: '<html>', type: 'text/html' } } }), 'OAUTH_'],
    ['a user answer that is HTML', () => user('<html>', 'text/html'), 'neither JSON nor a token'],
    ['a user answer of another person', () => user('{"sub":"20009"}', 'application/json'), 'another subject'],
    [
      'a user answer signed with another key',
      () => user(jwt({}, { signedBy: 'foreign' }), 'application/jwt'),
      'any of its published keys',
    ],
    [
      'a user answer without a valid signature',
      () => user(jwt({}, { signedBy: 'nobody' }), 'application/jwt'),
      'any of its published keys',
    ],
    [
      'a signed user answer for another client',
      () => user(jwt({ aud: 'other' }), 'application/jwt'),
      'another .{0,2}aud',
    ],
    [
      'a signed user answer of another issuer',
      () => user(jwt({ iss: 'https://evil.example' }), 'application/jwt'),
      'another .{0,2}iss',
    ],
    ['an encrypted user answer', () => user('a.b.c.d.e', 'application/jwt'), 'encrypted'],
  ];
  test.each(REFUSED)(
    '%s: refused, with the reason in the log [token-answer-checked]',
    async (_what, mischief, reason) => {
      expect(await signIn(mischief())).toMatch(new RegExp(`^502 .*(${reason})`, 's'));
      expect(await server.redis.keys('{id}:link:*')).toEqual([]);
      expect(fixture.lines.join('\n')).not.toMatch(/AT:|RT:|OC-|evil\.example|Li Lei/);
    },
  );
});

describe('the issuer', () => {
  const discovered = (issuer: string): Mischief => ({ discovery: { issuer }, claims: { iss: issuer } });
  test.each<[string, string, string]>([
    ['with a slash in the settings alone', '/', ''],
    ['given as the address of its discovery', '/.well-known/openid-configuration', ''],
  ])('%s: accepted', async (_what, suffix, named) => {
    expect(await signIn(discovered(`${provider.url}${named}`), { issuer: `${provider.url}${suffix}` })).toBe(
      'Person 20001',
    );
  });

  test('with a trailing slash in the discovery only: accepted', async () => {
    expect(await signIn(discovered(`${provider.url}/`))).toBe('Person 20001');
    const found = await checkSignIn(checkOptions());
    expect(found.filter(({ verdict }) => verdict === 'fault')).toEqual([]);
  });

  test('for every tenant: refused, and the check asks for the tenant id [checked-id-tokens]', async () => {
    const issuer = 'https://login.microsoftonline.com/{tenantid}/v2.0';
    expect(await signIn(discovered(issuer))).toMatch(/^502 .*all tenants/s);
    const [found] = await checkSignIn(checkOptions());
    expect([found?.verdict, found?.nextStep]).toEqual(['fault', expect.stringContaining('TENANT-ID')]);
  });
});

const checkOptions = () => ({
  ...{ type: 'oidc' as const, authUrl: provider.url, clientId: provider.clientId, publicUrl: fixture.url },
  clientSecret: fixture.options.signIn.service.clientSecret,
});

describe('client authentication with special characters in the secret', () => {
  const SECRET = 'a+b/c%=-_ü';
  const basicOf = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  const PROVIDERS = {
    client_secret_basic: (header: string) => header === basicOf('parley:a%2Bb%2Fc%25%3D-_%C3%BC'),
    client_secret_basic_raw: (header: string) => header === basicOf(`parley:${SECRET}`),
    client_secret_post: (header: string, form: URLSearchParams) =>
      header === '' && form.get('client_secret') === SECRET,
  } as const;
  const METHODS = Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[];
  test.each(METHODS)('%s: accepted by the provider, and recommended by the check otherwise', async (method) => {
    const mischief = { takesClient: PROVIDERS[method] };
    expect(await signIn(mischief, { secret: SECRET, clientAuth: method })).toBe('Person 20001');
    for (const clientAuth of METHODS) {
      const found = await checkSignIn({ ...checkOptions(), clientAuth });
      const steps = found.filter(({ verdict }) => verdict === 'fault').map(({ nextStep }) => nextStep);
      expect(steps).toEqual(
        clientAuth === method ? [] : [`Set SIGN_IN_CLIENT_AUTH=${method}, which the provider accepts`],
      );
    }
  });
});
