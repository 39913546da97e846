import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startIdentityFixture, type IdentityFixture } from '../identity-fixture.ts';
import { casAnswer, casSuccess, startCasStandIn, type CasStandIn } from './cas-stand-in.ts';

let server: TestRedis;
let provider: CasStandIn;
let fixture: IdentityFixture;
beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => {
  provider = await startCasStandIn();
  fixture = await startIdentityFixture(server.redis, {
    provider,
    signIn: { type: 'cas', proof: ['same-browser', 'same-id'] },
  });
});
afterEach(() => Promise.all([fixture.close(), provider.close()]));
afterAll(() => server.stop());

const links = () => server.redis.keys('{id}:link:*');

describe('signing in by CAS', () => {
  test('links, is not asked again, ends after thirty days, and signs out at the same address [daily-check]', async () => {
    const browser = fixture.browser('20001', '20001');
    const done = await fixture.walk(browser, await fixture.link('20001'));
    expect(done.text).toContain('You are signed in as Person 20001');
    const [link = ''] = await links();
    expect(Math.round((await server.redis.pttl(link)) / 86_400_000)).toBe(30);
    expect(await server.redis.hget(link, 'tokens')).toBe('');
    fixture.clock.nowMs += 86_400_000;
    expect(await fixture.identity.recheckDue(10)).toBe(0);
    const { logoutUrl } = await fixture.identity.unlink(fixture.owner, '20001', 'm1');
    expect(logoutUrl).toBe(
      `${provider.url}/logout?${new URLSearchParams({ service: `${fixture.url}/oauth/callback` }).toString()}`,
    );
    const out = await browser.follow(await browser.get(logoutUrl ?? ''));
    expect([out.status, out.text.includes('You are signed out')]).toEqual([200, true]);
  });

  test('the state travels in the service address, and the same address redeems the ticket [fixed-redirect]', async () => {
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const service = new URL(provider.seen.authorize[0]?.get('service') ?? 'missing:');
    expect(`${service.origin}${service.pathname}`).toBe(`${fixture.url}/oauth/callback`);
    expect(service.search).toMatch(/^\?state=[0-9a-f]{64}$/);
    expect(provider.seen.codes).toHaveLength(1);
  });
});

describe('a broken answer of a CAS server links nobody', () => {
  const user = '<cas:user>20001</cas:user>';
  const bodies: [string, string][] = [
    ['another namespace', casSuccess('20001').replace('http://www.yale.edu/tp/cas', 'http://evil.example/cas')],
    ['an external entity', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${casSuccess('&e;')}`],
    ['an unknown entity', casSuccess('&admin;')],
    [
      'two users',
      casAnswer(`<cas:authenticationSuccess>${user}<cas:user>20009</cas:user></cas:authenticationSuccess>`),
    ],
    ['no user', casAnswer('<cas:authenticationSuccess></cas:authenticationSuccess>')],
    [
      'success beside failure',
      casAnswer(`<cas:authenticationFailure code="X"/><cas:authenticationSuccess>${user}</cas:authenticationSuccess>`),
    ],
    ['cut off', casSuccess('20001').slice(0, -20)],
    ['HTML', '<html>Maintenance</html>'],
    ['nothing', ''],
    ['too long', `${casSuccess('20001')}${' '.repeat(300_000)}`],
    ...['INVALID_TICKET', 'INVALID_SERVICE', 'INVALID_REQUEST', 'INTERNAL_ERROR', 'UNAUTHORIZED_SERVICE'].map(
      (code): [string, string] => [
        code,
        casAnswer(`<cas:authenticationFailure code="${code}">no</cas:authenticationFailure>`),
      ],
    ),
  ];
  test.each(bodies)('%s: the service failed, and nothing is kept [checked-tickets]', async (_what, body) => {
    provider.answer = () => ({ body });
    const page = await fixture.walkToConfirm(fixture.browser('20001', '20001'), await fixture.link('20001'));
    expect([page.status, page.text.includes('name="ticket"')]).toEqual([502, true]);
    expect(await links()).toEqual([]);
    expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
    expect(fixture.lines.join('\n')).not.toMatch(/ST-|Maintenance|evil/);
  });

  test('another user, a name cut by a comment included, is another person [same-id]', async () => {
    provider.answer = () => ({ body: casSuccess('20001<!-- -->9') });
    const page = await fixture.walkToConfirm(fixture.browser('20001', '20001'), await fixture.link('20001'));
    expect(page.status).toBe(403);
    expect(await links()).toEqual([]);
  });

  test('a ticket of another service address is refused by CAS, since ours holds the state [state-by-mode]', async () => {
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const away = await browser.follow(started, /\/oauth\/callback\?state/);
    const callback = new URL(String(away.headers['location']));
    callback.searchParams.set(
      'ticket',
      provider.mintCode('20001', `${fixture.url}/oauth/callback?state=${'0'.repeat(64)}`),
    );
    const next = await browser.get(callback.href);
    // One new start, as after a code that was no use.
    expect(String(next.headers['location'])).toContain('/login?service=');
    expect(await links()).toEqual([]);
  });

  test('a return without its state is refused before CAS is asked [state-by-mode] [same-for-all-dialects]', async () => {
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const away = await browser.follow(started, /\/oauth\/callback\?state/);
    const callback = new URL(String(away.headers['location']));
    callback.searchParams.delete('state');
    expect((await browser.get(callback.href)).status).toBe(400);
    expect(provider.seen.codes).toEqual([]);
  });
});
