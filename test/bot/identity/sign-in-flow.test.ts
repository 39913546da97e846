import { describe, expect, test } from '@jest/globals';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';
import { CONVERSATION } from './identity-fixture.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';

const { server, fixture, open } = useIdentityFixture();

describe('the whole sign-in', () => {
  for (const proof of [['same-browser'], ['same-id'], ['same-browser', 'same-id']] as const) {
    test(`links, releases and notifies, with proof ${proof.join(' and ')} [sign-in-in-steps]`, async () => {
      await open({ signIn: { proof } });
      const browser = fixture.browser('20001', '20001');
      const link = await fixture.link('20001');
      const landing = await browser.get(link);
      expect(landing.text).toContain('Display 20001');
      expect(landing.text).toContain('2•••1');
      const confirm = await browser.follow(await browser.submit(landing));
      expect(new URL(confirm.url).pathname).toBe('/sign-in/confirm');
      expect(confirm.text).toContain('Person 20001');
      expect(await fixture.identity.accountOf(fixture.owner, '20001')).toBeUndefined();

      const done = await browser.submit(confirm, '/sign-in/confirm');
      expect(done.status).toBe(200);
      expect(done.text).toContain('You are signed in as Person 20001');
      expect(await fixture.identity.accountOf(fixture.owner, '20001')).toEqual({
        accountId: '20001',
        name: 'Person 20001',
        identityCode: 'JG',
        department: 'D01',
        departmentName: 'Library',
        linkedAtMs: fixture.clock.nowMs,
        status: 'active',
      });
      expect(fixture.releases.map(({ conversation }) => conversation)).toEqual([CONVERSATION]);
      expect(fixture.notices.map(({ notice }) => notice.kind)).toEqual(['linked']);
      expect(fixture.events).toEqual(['link-asked', 'link-started', 'linked']);
      expect([fixture.service.seen.codes.length, fixture.service.seen.profiles]).toEqual([1, 1]);
      const usedPlatform = browser.visited.some((url) => url.includes('/oauth/platform/wecom/callback'));
      expect(usedPlatform).toBe(proof.some((name) => name === 'same-browser'));
    });
  }

  test('sends state and S256 to the service, and no scope unless one is configured [fixed-redirect]', async () => {
    await open({ signIn: { proof: ['same-id'] } });
    await fixture.walk(fixture.browser('20001'), await fixture.link('20001'));
    const query = Object.fromEntries(fixture.service.seen.authorize[0] ?? []);
    expect(query).toEqual({
      response_type: 'code',
      client_id: 'parley',
      redirect_uri: `${fixture.url}/oauth/callback`,
      state: expect.stringMatching(/^[0-9a-f]{64}$/),
      code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  test('keeps a release until it is reported as done', async () => {
    await open();
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const [release] = await fixture.identity.pendingReleases(10);
    expect(release?.conversation).toEqual(CONVERSATION);
    await fixture.identity.completeRelease(release?.id ?? '');
    expect(await fixture.identity.pendingReleases(10)).toEqual([]);
  });

  test('links and notifies once if the confirmation is submitted 12 times in parallel', async () => {
    await open({ identity: { redis: unevenlySlow(server.redis) } });
    const browser = fixture.browser('20001', '20001');
    const confirm = await fixture.walkToConfirm(browser, await fixture.link('20001'));
    const pages = await Promise.all(Array.from({ length: 12 }, () => browser.submit(confirm, '/sign-in/confirm')));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
    expect(fixture.notices).toHaveLength(1);
    expect(fixture.releases).toHaveLength(1);
    expect((await browser.get(`${fixture.url}/sign-in/confirm`)).text).toContain('You are signed in');
  });

  test('does not lock out a browser that submits the first form twice', async () => {
    await open();
    const browser = fixture.browser('20001', '20001');
    const landing = await browser.get(await fixture.link('20001'));
    const cookies = new Map(browser.cookies);
    await browser.submit(landing);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    const second = await browser.follow(await browser.submit(landing));
    expect((await browser.submit(second, '/sign-in/confirm')).text).toContain('You are signed in');
  });

  test('forgets a cancelled sign-in and uses up its link', async () => {
    await open();
    const browser = fixture.browser('20001', '20001');
    const link = await fixture.link('20001');
    const cancelled = await browser.submit(await fixture.walkToConfirm(browser, link), '/sign-in/cancel');
    expect(cancelled.text).toContain('No account was connected');
    expect(await fixture.identity.accountOf(fixture.owner, '20001')).toBeUndefined();
    expect((await browser.get(link)).status).toBe(410);
    expect((await browser.get(`${fixture.url}/sign-in/confirm`)).status).toBe(400);
    expect(await fixture.link('20001')).toContain('/link/');
  });

  test('removes everything on unlinking and returns the fixed logout address [unlink-ends-all]', async () => {
    await open();
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const { wasLinked, logoutUrl } = await fixture.identity.unlink(fixture.owner, '20001', 'm1');
    expect(wasLinked).toBe(true);
    expect(logoutUrl).toBe(
      `${fixture.service.authUrl}/logout?service=${encodeURIComponent(`${fixture.url}/oauth/callback`)}`,
    );
    expect(await fixture.identity.accountOf(fixture.owner, '20001')).toBeUndefined();
    expect(await server.redis.keys('{id}:link:*')).toEqual([]);
    expect(await server.redis.keys('{id}:holder:*')).toEqual([]);
    expect(await server.redis.zcard('{id}:rechecks')).toBe(0);
    expect((await fixture.identity.unlink(fixture.owner, '20001', 'm2')).wasLinked).toBe(false);
  });

  test('stores only expiring keys, without an id, name, ticket or token in clear text [plain-fields]', async () => {
    await open({ signIn: { keepTokens: 'both' } });
    const link = await fixture.link('zhang-san');
    fixture.platform.codeFor('zhang-san');
    const browser = fixture.browser('20001', 'zhang-san');
    const confirm = await fixture.walkToConfirm(browser, link);
    await expectSealed(link);
    await browser.submit(confirm, '/sign-in/confirm');
    await expectSealed(link);
  });

  async function expectSealed(link: string): Promise<void> {
    const names = await server.redis.keys('*');
    const unending = await Promise.all(names.map(async (name) => ((await server.redis.pttl(name)) < 0 ? name : '')));
    expect(unending.filter((name) => name !== '')).toEqual([]);
    expect(names.every((name) => name.startsWith('{id}:'))).toBe(true);
    const values = await Promise.all(names.map((name) => storedAt(name)));
    const stored = JSON.stringify([names, values]);
    for (const secret of ['zhang-san', 'Person 20001', 'Display', link.slice(-43), 'AT:', 'RT:'])
      expect(stored).not.toContain(secret);
  }
});

/** Delays every second read of a ticket, so that parallel requests overlap in every order. */
function unevenlySlow(redis: RedisClient): RedisClient {
  let count = 0;
  const hgetall = async (key: string) => {
    count += 1;
    if (count % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    return redis.hgetall(key);
  };
  return new Proxy(redis, {
    get(target, name) {
      if (name === 'hgetall') return hgetall;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function storedAt(name: string): Promise<unknown> {
  const { redis } = server;
  const type = await redis.type(name);
  if (type === 'hash') return redis.hgetall(name);
  if (type === 'set') return redis.smembers(name);
  return type === 'zset' ? redis.zrange(name, 0, '-1') : redis.get(name);
}

describe('asking to sign in', () => {
  test('keeps one live ticket per person, which only /signin replaces and invalidates [one-live-ticket]', async () => {
    await open();
    const first = await fixture.link('20001');
    const request = { ...fixture.owner, chatUserId: '20001', conversation: CONVERSATION, language: 'en' as const };
    expect(await fixture.identity.inviteToSignIn(request)).toEqual({
      kind: 'waiting',
      url: first,
      expiresAtMs: fixture.clock.nowMs + 600_000,
    });
    const second = await fixture.link('20001', true);
    const browser = fixture.browser('20001', '20001');
    expect((await browser.get(first)).status).toBe(410);
    expect((await browser.get(second)).status).toBe(200);
  });

  test('returns five links per hour, then the time of the next [one-live-ticket]', async () => {
    await open();
    const startMs = fixture.clock.nowMs;
    for (let count = 0; count < 5; count += 1) {
      await fixture.link('20001', true);
      fixture.clock.nowMs += 1_000;
    }
    const request = {
      ...fixture.owner,
      chatUserId: '20001',
      conversation: CONVERSATION,
      language: 'en' as const,
      mints: 'always' as const,
    };
    expect(await fixture.identity.inviteToSignIn(request)).toEqual({
      kind: 'too-many',
      retryAtMs: startMs + 3_600_000,
    });
    expect(await fixture.link('20002')).toContain('/link/');
    fixture.clock.nowMs = startMs + 3_600_000;
    expect(await fixture.link('20001', true)).toContain('/link/');
  });

  test('returns the same link to a repeated turn until that link is used up', async () => {
    await open();
    const request = { ...fixture.owner, chatUserId: '20001', language: 'en' as const, askedBy: 'turn-1' };
    const linkOf = async () => {
      const asked = await fixture.identity.inviteToSignIn(request);
      return asked.kind === 'invited' ? asked.url : asked.kind;
    };
    const first = await linkOf();
    expect(first).toContain('/link/');
    expect(await linkOf()).toBe(first);
    expect((await fixture.identity.inviteToSignIn({ ...request, askedBy: 'turn-2' })).kind).toBe('waiting');
    const browser = fixture.browser('20001', '20001');
    await browser.submit(await fixture.walkToConfirm(browser, first), '/sign-in/cancel');
    const second = await linkOf();
    expect(second).toContain('/link/');
    expect(second).not.toBe(first);
    expect(await linkOf()).toBe(second);
  });

  test('reports a person who is linked by now as linked, unless that link is known to be useless', async () => {
    await open();
    const request = { ...fixture.owner, chatUserId: '20001', conversation: CONVERSATION, language: 'en' as const };
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const linkedAtMs = fixture.clock.nowMs;
    for (const mints of [{}, { mints: 'always' as const }])
      expect(await fixture.identity.inviteToSignIn({ ...request, ...mints })).toEqual({ kind: 'linked', linkedAtMs });
    expect(await server.redis.keys('{id}:waiting:*')).toEqual([]);
    const invited = await fixture.identity.inviteToSignIn({ ...request, uselessLinkMs: linkedAtMs });
    expect(invited.kind).toBe('invited');
  });

  test('holds at most 50 conversations of one person, and releases each of them', async () => {
    await open();
    const link = await fixture.link('20001');
    const ask = (count: number) => {
      const conversation = { id: asConversationId(count.toString(16).padStart(32, '0')), partition: count };
      return fixture.identity.inviteToSignIn({ ...fixture.owner, chatUserId: '20001', conversation, language: 'en' });
    };
    for (let count = 1; count < 50; count += 1) expect((await ask(count)).kind).toBe('waiting');
    expect(await ask(50)).toEqual({ kind: 'full', maxWaiting: 50 });
    expect((await ask(7)).kind).toBe('waiting');
    await fixture.walk(fixture.browser('20001', '20001'), link);
    expect(fixture.releases).toHaveLength(50);
  });

  test('moves a release that is needed again behind the others without extending its life', async () => {
    await open();
    const link = await fixture.link('20001');
    const other = { id: asConversationId('deadbeefdeadbeefdeadbeefdeadbeef'), partition: 3 };
    await fixture.identity.inviteToSignIn({
      ...fixture.owner,
      chatUserId: '20001',
      conversation: other,
      language: 'en',
    });
    await fixture.walk(fixture.browser('20001', '20001'), link);
    const [first, second] = await fixture.identity.pendingReleases(10);
    fixture.clock.nowMs += 1_000;
    await fixture.identity.retryRelease(first?.id ?? '');
    expect((await fixture.identity.pendingReleases(10)).map(({ id }) => id)).toEqual([second?.id, first?.id]);
    await server.redis.del(`{id}:release:${first?.id}`);
    expect(await fixture.identity.pendingReleases(10)).toEqual([second]);
  });

  test('ends a ticket after ten minutes', async () => {
    await open();
    const link = await fixture.link('20001');
    fixture.clock.nowMs += 600_000;
    expect((await fixture.browser('20001').get(link)).status).toBe(410);
    expect(await fixture.link('20001')).not.toBe(link);
  });

  test('releases every conversation that asked once the person is linked', async () => {
    await open();
    const link = await fixture.link('20001');
    const other = { id: asConversationId('deadbeefdeadbeefdeadbeefdeadbeef'), partition: 3 };
    await fixture.identity.inviteToSignIn({
      ...fixture.owner,
      chatUserId: '20001',
      conversation: other,
      language: 'en',
    });
    await fixture.walk(fixture.browser('20001', '20001'), link);
    expect(fixture.releases.map(({ conversation }) => conversation.id).sort()).toEqual(
      [CONVERSATION.id, other.id].sort(),
    );
  });

  test('fails at start if no proof is configured or possible [proof-of-person] [checked-at-start]', async () => {
    await expect(open({ signIn: { proof: [] } })).rejects.toMatchObject({ code: 'options_unsafe' });
    await expect(open({ platform: { hasWebSignIn: false } })).rejects.toMatchObject({ code: 'options_unsafe' });
  });
});
