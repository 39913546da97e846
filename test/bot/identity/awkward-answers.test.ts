import { describe, expect, test } from '@jest/globals';
import type { Scripted } from './stand-in-service.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { server, fixture, open: start } = useIdentityFixture();

/** Values in responses that must appear neither on a page nor in the log. */
const TOKEN = 'AT:c0ffee-awkward-token';
const WORDS = 'upstream-words-4711';
const WHO = 'awkward.person';

interface Row {
  what: string;
  answer: Scripted;
  page: 'service-failed' | 'account-refused';
  status: 502 | 504 | 403;
  /** The error code that the log line must contain. */
  code: string;
}

const unusable = (what: string, answer: Scripted): Row => ({
  ...{ what, answer, page: 'service-failed', status: 502, code: 'service_refused' },
});
const json = (value: unknown, status = 200): Scripted => ({ status, body: JSON.stringify(value) });
const token = (fields: Record<string, unknown>) =>
  json({ access_token: TOKEN, token_type: 'bearer', expires_in: 7200, ...fields });

/** Malformed responses of both the token and the profile endpoint. */
const NEITHER: Row[] = [
  unusable('empty', { body: '' }),
  unusable('white space', { body: ' \n' }),
  unusable('HTML with 200', { body: `<html><body>${WORDS}</body></html>` }),
  unusable('HTML with 500', { status: 500, body: `<html>${WORDS}</html>` }),
  unusable('HTML with 404', { status: 404, body: `<html>${WORDS}</html>` }),
  unusable('a redirect to a login page', { status: 302, body: '' }),
  unusable('no content', { status: 204, body: '' }),
  unusable('busy', json({ error: 'temporarily_unavailable', error_description: WORDS }, 503)),
  unusable('too many requests', json({ error: WORDS }, 429)),
  unusable('null', { body: 'null' }),
  unusable('a list', json([{ access_token: TOKEN, id: WHO }])),
  unusable('a text', json(WORDS)),
  unusable('a number', { body: '20001' }),
  unusable('JSON that is cut off', { body: `{"access_token":"${TOKEN}","id":"awkw` }),
  unusable('more than 256 KiB', json({ access_token: TOKEN, token_type: 'bearer', id: WHO, pad: 'x'.repeat(270_000) })),
];

const TOKENS: Row[] = [
  ...NEITHER,
  unusable('form-encoded', { body: `access_token=${TOKEN}&token_type=bearer&expires_in=7200` }),
  unusable('tokens with 500', { ...token({}), status: 500 }),
  unusable('tokens with 201', { ...token({}), status: 201 }),
  unusable('no access token', token({ access_token: undefined })),
  unusable('an empty access token', token({ access_token: '' })),
  unusable('an access token that is a number', token({ access_token: 4711 })),
  unusable('an access token that is a list', token({ access_token: [TOKEN] })),
  unusable('an access token of more than 32 KiB', token({ access_token: 'a'.repeat(32_769) })),
  unusable('no token type', token({ token_type: undefined })),
  unusable('a token type that is not a string', token({ token_type: ['bearer'] })),
  unusable('a token type that needs more than the token', token({ token_type: 'mac' })),
  unusable('an error beside the token', token({ error: 'invalid_grant', error_description: WORDS })),
  unusable('for another client', json({ error: 'invalid_client', error_description: WORDS }, 401)),
  unusable('for an inactive person', json({ error: 'invalid_grant', error_description: WORDS }, 400)),
];

const person = (fields: Record<string, unknown>) =>
  json({
    id: WHO,
    active: true,
    client_id: 'parley',
    parentIdentityInfo: { name: 'staff', code: 'JG' },
    attributes: { BMBM: 'D01', BMMC: 'Library', XGH: WHO, XM: WORDS, objectId: 'o-1' },
    ...fields,
  });
const broken = (what: string, fields: Record<string, unknown>): Row => ({
  ...{ what, answer: person(fields), page: 'account-refused', status: 403, code: 'profile_broken' },
});
const unfit = (what: string, fields: Record<string, unknown>): Row => ({
  ...{ what, answer: person(fields), page: 'account-refused', status: 403, code: 'profile_unfit' },
});

const PROFILES: Row[] = [
  ...NEITHER,
  { what: 'late', answer: { delayMs: 6_000 }, page: 'service-failed', status: 504, code: 'service_timeout' },
  unusable('a profile with 500', { ...person({}), status: 500 }),
  unusable('a token that it does not know', json({ error: 'invalid_token', error_description: WORDS }, 401)),
  broken('an empty object', { id: undefined, active: undefined, client_id: undefined }),
  broken('no id', { id: undefined }),
  broken('an id that is null', { id: null }),
  broken('an id whose last digits JSON has lost', { id: 20_001_000_000_000_000_000 }),
  broken('an id that is a fraction', { id: 2000.1 }),
  broken('an id that is a list', { id: [WHO] }),
  broken('an id with markup', { id: `<b>${WHO}</b>` }),
  broken('an id with a line break', { id: `${WHO}\n` }),
  broken('no active', { active: undefined }),
  broken('active as a text', { active: 'true' }),
  broken('active as a number', { active: 1 }),
  unfit('inactive', { active: false }),
  unfit('for another client', { client_id: 'another' }),
  unfit('for no client', { client_id: undefined }),
  unfit('for several clients', { client_id: ['parley'] }),
  unfit('an identity type that may not link', { parentIdentityInfo: { name: WORDS, code: 'QT' } }),
  unfit('an identity type that is a list', { parentIdentityInfo: ['JG'] }),
  unfit('an identity type that is a number', { parentIdentityInfo: { code: 7 } }),
];

/** Responses that deviate from the specification but are unambiguous. */
const ACCEPTED: [string, 'token' | 'profile', Scripted][] = [
  ['a token answer that is wrapped', 'token', json({ code: 0, data: { access_token: TOKEN, token_type: 'bearer' } })],
  ['a token answer with a byte order mark', 'token', { body: `\uFEFF${token({}).body ?? ''}` }],
  ['a refresh token of 16 KiB', 'token', token({ refresh_token: 'a'.repeat(16_384) })],
  ['a token type in capitals', 'token', token({ token_type: 'BEARER' })],
  ['a life as a text and a scope as a list', 'token', token({ expires_in: '3600', scope: ['a', 'b'] })],
  ['members of null', 'token', token({ expires_in: null, refresh_token: null, error: null })],
  ...(['data', 'result'] as const).map((name): [string, 'profile', Scripted] => [
    `a profile below ${name}`,
    'profile',
    json({ code: 0, msg: 'ok', [name]: JSON.parse(person({}).body ?? '') as unknown }),
  ]),
  ['a token answer with an error of 0', 'token', token({ error: 0 })],
  ['an id as a number', 'profile', person({ id: 20001 })],
  ['attributes as a list', 'profile', person({ attributes: [{ XM: WORDS }, { BMMC: 'Library' }, null, 'x'] })],
  [
    'groups of 100 KiB',
    'profile',
    person({ groups: Array.from({ length: 4_000 }, (_, n) => `CN=group-${n},OU=campus`) }),
  ],
];

test.each(ACCEPTED)('accepts %s [token-answer-checked] [usable-profile]', async (_what, which, answer) => {
  await start({ signIn: { proof: ['typed-code'] } });
  fixture.service.scripted = { profile: () => person({}), [which]: () => answer };
  const shown = await fixture.walkToConfirm(fixture.browser(WHO), await fixture.link(WHO));
  expect([shown.status, shown.text.includes(WORDS)]).toEqual([200, true]);
});

describe('a profile with other field names and a profile map', () => {
  const profileMap = { id: ['data.user.no', 'no'], XM: ['realName', 'data.user.realName'] };
  const walk = async (answer: Scripted) => {
    await start({ signIn: { proof: ['same-id'], profileMap } });
    fixture.service.scripted = { profile: () => answer };
    const shown = await fixture.walkToConfirm(fixture.browser(WHO), await fixture.link(WHO));
    return [shown.status, shown.text.includes(WORDS)];
  };
  test.each<[string, object]>([
    ['flat', { no: WHO, realName: WORDS }],
    ['nested', { success: true, data: { user: { no: WHO, realName: WORDS } } }],
    ['below attributes', { id: 7, client_id: 'parley', attributes: [{ no: WHO }, { realName: WORDS }] }],
  ])('%s: accepted', async (_what, answer) => {
    expect(await walk(json(answer))).toEqual([200, true]);
  });
  test.each<[string, object]>([
    ['of another client', { no: WHO, realName: WORDS, client_id: 'another' }],
    ['of another person', { no: 'another', realName: WORDS }],
    ['without the id', { realName: WORDS }],
    ['inactive', { no: WHO, realName: WORDS, active: false }],
  ])('%s: refused [usable-profile]', async (_what, answer) => {
    expect(await walk(json(answer))).toEqual([403, false]);
  });
});

const SAID = { 'service-failed': 'the sign-in service failed', 'account-refused': 'a profile was refused' } as const;

// A late token response is tested in service-faults.test.ts, because it takes five seconds.
describe.each([
  ['a token answer', 'token', TOKENS],
  ['a profile answer', 'profile', PROFILES],
] as const)('malformed responses: %s [token-answer-checked] [usable-profile] [page-headers]', (_, which, rows) => {
  test.each(rows.map((row) => [row.what, row.page, row] as const))(
    '%s: %s, no link, and the reason in the log',
    async (...given) => {
      const [, , { answer, page, status, code }] = given;
      await start({
        signIn: { proof: ['same-id'], allowedIdentityCodes: ['JG', 'XS'] },
      });
      // The profile is valid if the token is tested, so that only the check of the token can reject the sign-in.
      fixture.service.scripted = { profile: () => person({}), [which]: () => answer };
      const shown = await fixture.walkToConfirm(fixture.browser(WHO), await fixture.link(WHO));
      expect(shown.status).toBe(status);
      expect(shown.text.includes('action="/sign-in/again"')).toBe(page === 'service-failed');
      expect(await server.redis.keys('{id}:link:*')).toEqual([]);
      expect(await server.redis.keys('{id}:pending:*')).toEqual([]);

      const logged = fixture.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const refusals = logged.filter(({ msg }) => msg === 'a sign-in was refused');
      expect(refusals).toHaveLength(1);
      expect(refusals[0]).toMatchObject({ page });
      expect(shown.text).toContain(String(refusals[0]?.['reference']));
      expect(logged).toContainEqual(
        expect.objectContaining({ msg: SAID[page], error: expect.objectContaining({ code }) }),
      );

      const secrets = [TOKEN, WORDS, ...fixture.service.seen.codes, fixture.service.clientSecret, WHO];
      const all = fixture.lines.join('\n');
      expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
      expect([TOKEN, WORDS].filter((secret) => shown.text.includes(secret))).toEqual([]);
    },
  );
});
