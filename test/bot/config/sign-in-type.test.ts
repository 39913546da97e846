import { describe, expect, test } from '@jest/globals';
import { faultyNames, load, loadSound, SERVING, without } from './environments.ts';

const ISSUER = 'https://id.example.edu/realms/campus/';
const OIDC = { ...SERVING, SIGN_IN_TYPE: 'oidc', SIGN_IN_URL: ISSUER };
const CAS = {
  ...without(SERVING, 'SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'),
  ...{ SIGN_IN_TYPE: 'cas', SIGN_IN_URL: 'https://cas.example.edu/cas/' },
};

describe('SIGN_IN_TYPE', () => {
  test('defaults to the OAuth 2.0 interface', () => {
    expect(loadSound(SERVING).config.signIn).toMatchObject({ type: 'oauth2', scope: 'SVC-Basic' });
    const { signIn } = loadSound({ ...SERVING, SIGN_IN_URL: 'https://id.example.edu/' }).config;
    expect(signIn.url).toBe('https://id.example.edu');
  });

  test('keeps the issuer of OpenID Connect verbatim', () => {
    const { signIn } = loadSound({ ...OIDC, SIGN_IN_PROFILE_MAP_FILE: 'map.json' }).config;
    expect(signIn).toMatchObject({ type: 'oidc', url: ISSUER, scope: 'openid profile' });
    expect(signIn.profileMapFile).toMatch(/\/map\.json$/);
  });

  test('needs neither client id nor secret for CAS', () => {
    const { signIn } = loadSound(CAS).config;
    expect(signIn).toMatchObject({ type: 'cas', url: 'https://cas.example.edu/cas', clientId: '' });
  });

  test.each<[string, Record<string, string>, string]>([
    ['OpenID Connect without a client id', without(OIDC, 'SIGN_IN_CLIENT_ID'), 'SIGN_IN_CLIENT_ID'],
    ['OpenID Connect without a secret', without(OIDC, 'SIGN_IN_CLIENT_SECRET'), 'SIGN_IN_CLIENT_SECRET'],
    ['a scope without openid', { ...OIDC, SIGN_IN_SCOPE: 'profile' }, 'SIGN_IN_SCOPE'],
    ['OpenID Connect without state', { ...OIDC, SIGN_IN_STATE: 'absent' }, 'SIGN_IN_STATE'],
    ['a unit where it is known', { ...OIDC, SIGN_IN_EXPIRES_UNIT: 'seconds' }, 'SIGN_IN_EXPIRES_UNIT'],
    ['CAS without state', { ...CAS, SIGN_IN_STATE: 'absent' }, 'SIGN_IN_STATE'],
    ['CAS with a client', { ...CAS, SIGN_IN_CLIENT_ID: 'parley' }, 'SIGN_IN_CLIENT_ID'],
    ['CAS with a secret', { ...CAS, SIGN_IN_CLIENT_SECRET: 'the secret' }, 'SIGN_IN_CLIENT_SECRET'],
    ['CAS with a scope', { ...CAS, SIGN_IN_SCOPE: 'openid' }, 'SIGN_IN_SCOPE'],
    ['CAS with tokens to keep', { ...CAS, SIGN_IN_KEEP_TOKENS: 'both' }, 'SIGN_IN_KEEP_TOKENS'],
    ['CAS with a way to send a secret', { ...CAS, SIGN_IN_CLIENT_AUTH: 'client_secret_post' }, 'SIGN_IN_CLIENT_AUTH'],
    ['another word', { ...SERVING, SIGN_IN_TYPE: 'saml' }, 'SIGN_IN_TYPE'],
    ['plain http', { ...OIDC, SIGN_IN_URL: 'http://id.example.edu' }, 'SIGN_IN_URL'],
    ['another dialect in local mode without an address', { SIGN_IN_TYPE: 'oidc' }, 'SIGN_IN_TYPE'],
  ])('rejects %s with a remedy', (_what, given, name) => {
    expect(faultyNames(given)).toEqual([name]);
    expect(JSON.stringify(load(given))).toMatch(/unset|set |add it|must be|correct|gave it/);
  });
});
