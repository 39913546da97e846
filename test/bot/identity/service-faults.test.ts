import { describe, expect, test } from '@jest/globals';
import { type IdentityFixture } from './identity-fixture.ts';
import type { Scripted } from './stand-in-service.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { server, fixture, open: start } = useIdentityFixture();

async function open(): Promise<IdentityFixture> {
  await start({
    signIn: { proof: ['same-id'], allowedIdentityCodes: ['JG', 'XS'] },
  });
  return fixture;
}

const arrive = async () => fixture.walkToConfirm(fixture.browser('20001'), await fixture.link('20001'));

describe('a faulty token response (service-failed)', () => {
  test('too slow: answers 504 after 5 s, sends the code once, and offers a new start', async () => {
    await open();
    fixture.service.scripted.token = () => ({ delayMs: 20_000 });
    const browser = fixture.browser('20001');
    const startedMs = performance.now();
    const page = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    expect(page.status).toBe(504);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(fixture.service.seen.codes).toHaveLength(1);

    fixture.service.scripted = {};
    const confirm = await browser.follow(await browser.submit(page, '/sign-in/again'));
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in');
  });

  const useless: [string, Scripted][] = [
    ['HTML', { body: '<html><body>maintenance</body></html>' }],
    ['a server error', { status: 500, body: '{}' }],
    ['a 200 with an error', { body: '{"error":"invalid_grant","access_token":"x","token_type":"bearer"}' }],
    ['a token that is a number', { body: '{"access_token":7,"token_type":"bearer"}' }],
    ['another token type', { body: '{"access_token":"x","token_type":"mac"}' }],
    [
      'more than 256 KiB',
      { body: JSON.stringify({ access_token: 'x', token_type: 'bearer', pad: 'x'.repeat(270_000) }) },
    ],
  ];
  for (const [what, scripted] of useless) {
    test(`${what}: makes one new start by itself with a new code, then shows service-failed [code-used-once]`, async () => {
      await open();
      fixture.service.scripted.token = () => scripted;
      const page = await arrive();
      expect(page.status).toBe(502);
      expect(page.text).toContain('Try again');
      expect(page.text).not.toContain('maintenance');
      expect(new Set(fixture.service.seen.codes).size).toBe(2);
      expect(fixture.service.seen.codes).toHaveLength(2);
    });
  }

  test('a stale code: restarts unnoticed and succeeds', async () => {
    await open();
    let count = 0;
    fixture.service.scripted.token = () =>
      (count += 1) === 1 ? { status: 400, body: '{"error":"invalid_grant"}' } : undefined;
    expect((await arrive()).text).toContain('Are both of these you?');
  });

  test('an unreachable service: shows service-failed at once', async () => {
    await open();
    const browser = fixture.browser('20001');
    const started = await browser.follow(
      await browser.submit(await browser.get(await fixture.link('20001'))),
      /\/oauth\/callback/,
    );
    await fixture.service.close();
    const page = await browser.get(String(started.headers['location']));
    expect(page.status).toBe(502);
  });

  test('a failed profile request: is repeated once [usable-profile]', async () => {
    await open();
    let count = 0;
    fixture.service.scripted.profile = () => ((count += 1) === 1 ? { status: 503, body: '' } : undefined);
    expect((await arrive()).text).toContain('Are both of these you?');
    expect(fixture.service.seen.profiles).toBe(2);
    expect(fixture.service.seen.codes).toHaveLength(1);
  });
});

describe('an unusable profile (account-refused)', () => {
  const bad: [string, Record<string, unknown>][] = [
    ['no id', { id: undefined }],
    ['an id that is a fraction', { id: 2000.1 }],
    ['an empty id', { id: '' }],
    ['an id with markup', { id: '<b>20001</b>' }],
    ['an over-long id', { id: '2'.repeat(129) }],
    ['an id with spaces around', { id: ' 20001 ' }],
    ['an inactive account', { active: false }],
    ['active as a text', { active: 'true' }],
    ['active missing', { active: undefined }],
    ['another client', { client_id: 'other' }],
    ['no client', { client_id: undefined }],
    ['an identity type that is not allowed', { parentIdentityInfo: { name: 'other', code: 'QT' } }],
    ['no identity type', { parentIdentityInfo: null }],
  ];
  for (const [what, fields] of bad) {
    test(`${what}: makes no link and shows a reference`, async () => {
      await open();
      fixture.service.profiles.set('20001', fields);
      const page = await arrive();
      expect(page.status).toBe(403);
      expect(page.text).toMatch(/contact the help desk/i);
      expect(page.text).toMatch(/Reference [\w-]{8}/);
      expect(await server.redis.keys('{id}:link:*')).toEqual([]);
      expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
    });
  }
});

describe('a response that is no profile (service-failed) [page-headers]', () => {
  for (const body of ['<html></html>', '[]', 'null', '"20001"', '']) {
    test(`${body || 'nothing'}: shows that the service did not finish, with a button to try again`, async () => {
      await open();
      fixture.service.scripted.profile = () => ({ body });
      const page = await arrive();
      expect(page.status).toBe(502);
      expect(page.text).toContain('action="/sign-in/again"');
      expect(fixture.events).not.toContain('link-refused profile');
      expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
    });
  }
});
