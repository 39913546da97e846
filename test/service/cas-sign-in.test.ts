import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CasSignIn } from '../../src/service/oauth/methods/cas-sign-in.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { startStandIn, type StandIn } from './sign-in-support.ts';
import { authorizePath, Browser, exchange, getProfile, startTestService, type TestService } from './support.ts';

const NS = 'xmlns:cas="http://www.yale.edu/tp/cas"';
const LI = `<cas:user>20240007</cas:user><cas:attributes><cas:cn>李雷</cas:cn>
  <cas:eduPersonAffiliation>member</cas:eduPersonAffiliation><cas:eduPersonAffiliation>staff</cas:eduPersonAffiliation>
  <cas:department>Physics</cas:department></cas:attributes>`;

let server: TestRedis;
let cas: StandIn;
let service: TestService;
/** Service address by ticket. A ticket works once, and only for its service address. */
const tickets = new Map<string, string>();
let success = LI;
let answers: Record<string, { status?: number; body: string; delayMs?: number }> = {};
/** Whether the newest validation address responds to unknown tickets. */
let hasAddress = true;
let calls: string[] = [];
let validations: URLSearchParams[] = [];

function wrap(inner: string): string {
  return `<cas:serviceResponse ${NS}>${inner}</cas:serviceResponse>`;
}

beforeAll(async () => {
  server = await startTestRedis();
  cas = await startStandIn(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const isMadeUp = searchParams.get('ticket')?.startsWith('ST-parley-made-up-') === true;
    if (!isMadeUp) calls.push(pathname);
    if (!isMadeUp) validations.push(searchParams);
    const bent = isMadeUp && hasAddress ? undefined : answers[pathname];
    if (bent?.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, bent.delayMs).unref());
    if (bent) return response.writeHead(bent.status ?? 200).end(bent.body);
    const ticket = searchParams.get('ticket') ?? '';
    const isRight = tickets.get(ticket) === searchParams.get('service');
    tickets.delete(ticket);
    const refusal = '<cas:authenticationFailure code="INVALID_TICKET">Ticket unknown</cas:authenticationFailure>';
    return response.end(wrap(isRight ? `<cas:authenticationSuccess>${success}</cas:authenticationSuccess>` : refusal));
  });
  service = await startTestService(server.redis, {
    directory: [],
    institution: { signIn: new CasSignIn({ url: `${cas.url}/cas`, profileMap: {} }) },
  });
});
beforeEach(() => {
  [success, answers, hasAddress, calls, validations] = [LI, {}, true, [], []];
});
afterAll(async () => {
  await Promise.all([service.close(), cas.close()]);
  await server.stop();
});

async function leave(browser: Browser): Promise<URL> {
  return new URL((await browser.get(authorizePath({ state: 's1' }))).headers.location ?? 'missing:');
}

/** The redirect target of CAS's login page. */
function comeBack(away: URL): string {
  const address = away.searchParams.get('service') ?? '';
  const ticket = `ST-${tickets.size}-${Math.random().toString(36).slice(2)}`;
  tickets.set(ticket, address);
  return `${address}&${new URLSearchParams({ ticket }).toString()}`;
}

async function signIn(browser = new Browser(service.url)) {
  return browser.get(comeBack(await leave(browser)));
}

describe('sign-in through the institution by CAS protocol 3 [ways-to-sign-in]', () => {
  test('covers authorize, CAS, consent and the profile with attributes', async () => {
    const browser = new Browser(service.url);
    const away = await leave(browser);
    expect(`${away.origin}${away.pathname}`).toBe(`${cas.url}/cas/login`);
    expect(away.searchParams.get('service')).toMatch(
      new RegExp(`^${service.url}/sign-in/cas/callback\\?state=[0-9a-f]{64}$`),
    );
    const consent = await browser.follow(await browser.get(comeBack(away)));
    expect(calls).toEqual(['/cas/p3/serviceValidate']);
    const back = new URL((await browser.submit(consent, { decision: 'allow' })).headers.location ?? 'missing:');
    const { body } = await exchange(service, back.searchParams.get('code') ?? '');
    expect((await getProfile(service, body['access_token'])).body).toEqual({
      id: '20240007',
      sub: '20240007',
      active: true,
      parentIdentityInfo: { name: '教职工', code: 'JG' },
      attributes: { BMBM: '', BMMC: 'Physics', XGH: '20240007', XM: '李雷', objectId: '20240007' },
      client_id: 'parley',
    });
  });

  test('validates an unused ticket by the older protocol if the server does not support protocol 3', async () => {
    hasAddress = false;
    answers = { '/cas/p3/serviceValidate': { status: 404, body: 'not here' } };
    success = '<cas:user>20240007</cas:user>';
    const older = await startTestService(server.redis, {
      directory: [],
      institution: { signIn: new CasSignIn({ url: `${cas.url}/cas`, profileMap: {} }) },
    });
    expect((await signIn(new Browser(older.url))).statusCode).toBe(303);
    expect(calls).toEqual(['/cas/serviceValidate']);
    await older.close();
  });

  test('asks CAS to renew when the person signs in as someone else', async () => {
    const browser = new Browser(service.url);
    const consent = await browser.follow(await signIn(browser));
    const choice = await browser.follow(await browser.submit(consent, { decision: 'switch' }));
    expect([choice.statusCode, choice.body.includes('name="password"')]).toEqual([200, false]);
    const way = /class="primary" href="([^"]+)"/.exec(choice.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const away = new URL((await browser.get(way)).headers.location ?? 'missing:');
    expect(away.searchParams.get('renew')).toBe('true');
    expect((await browser.get(comeBack(away))).headers.location).toBe(authorizePath({ state: 's1' }));
  });
});

describe('invalid CAS responses, which create no session', () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 20 }, (_, n) => `<!ENTITY b${n} "&a;&a;">`).join('')}]>`;
  const bodies: [string, string][] = [
    [
      'an unknown failure',
      wrap('<cas:authenticationFailure code="INTERNAL_ERROR">call-0900</cas:authenticationFailure>'),
    ],
    ['HTML', '<html><body>Maintenance</body></html>'],
    ['nothing', ''],
    ['JSON of another shape', '{"authenticationSuccess":{"user":"20240007"}}'],
    ['cut off', wrap(`<cas:authenticationSuccess>${LI}</cas:authenticationSuccess>`).slice(0, -20)],
    [
      'an entity bomb',
      `${bomb}${wrap('<cas:authenticationSuccess><cas:user>&b19;</cas:user></cas:authenticationSuccess>')}`,
    ],
    ['a harmless DTD', `<!DOCTYPE x>${wrap(`<cas:authenticationSuccess>${LI}</cas:authenticationSuccess>`)}`],
    ['an unknown entity', wrap('<cas:authenticationSuccess><cas:user>&admin;</cas:user></cas:authenticationSuccess>')],
    ['too long', wrap(`<cas:authenticationSuccess>${LI}</cas:authenticationSuccess>${' '.repeat(300_000)}`)],
  ];
  test.each(bodies)('%s', async (_, body) => {
    answers = { '/cas/p3/serviceValidate': { body } };
    const page = await signIn();
    expect(page.statusCode).toBe(502);
    expect(page.body).toContain('Try again');
    expect(`${page.body}${service.logLines.join('\n')}`).not.toMatch(/Maintenance|call-0900/);
  });

  test('include a refused ticket, a ticket of another address, and a return without a ticket', async () => {
    for (const change of [
      (back: URL) => back.searchParams.set('ticket', 'ST-made-up'),
      (back: URL) => back.searchParams.set('ticket', 'ST 1'),
      (back: URL) => back.searchParams.delete('ticket'),
      (back: URL) => {
        tickets.set('ST-other', `${service.url}/sign-in/cas/callback?state=${'a'.repeat(64)}`);
        back.searchParams.set('ticket', 'ST-other');
      },
    ]) {
      const browser = new Browser(service.url);
      const back = new URL(comeBack(await leave(browser)));
      change(back);
      expect((await browser.get(back.href)).statusCode).toBe(400);
      expect(browser.cookies.has('__Host-svc-session')).toBe(false);
    }
  });

  test("include a return in another person's browser and a second use [state-by-mode]", async () => {
    const attacker = new Browser(service.url);
    const back = comeBack(await leave(attacker));
    const victim = new Browser(service.url);
    await leave(victim);
    calls = [];
    expect((await victim.get(back)).statusCode).toBe(400);
    expect(calls).toEqual([]);
    // The attacker's own return works, and only once.
    const cookies = new Map(attacker.cookies);
    expect((await attacker.get(back)).statusCode).toBe(303);
    attacker.cookies.clear();
    for (const [name, value] of cookies) attacker.cookies.set(name, value);
    expect((await attacker.get(back)).statusCode).toBe(400);
  });

  test('a slow CAS server is abandoned after 5 s', async () => {
    answers = { '/cas/p3/serviceValidate': { body: '', delayMs: 20_000 } };
    const startedMs = performance.now();
    expect((await signIn()).statusCode).toBe(502);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });

  test('include a name that no page or record can contain', async () => {
    for (const user of ['x'.repeat(129), 'li&#10;lei']) {
      success = `<cas:user>${user}</cas:user>`;
      expect((await signIn()).statusCode).toBe(403);
    }
  });
});

test('signing in as another person makes CAS ignore the ticket of the existing session', async () => {
  const browser = new Browser(service.url);
  const away = async (prompt: string) => {
    const query = new URLSearchParams({ return_to: '/account', ...(prompt === '' ? {} : { prompt }) });
    return new URL((await browser.get(`/sign-in/cas?${query.toString()}`)).headers.location ?? 'missing:');
  };
  for (const [prompt, renew] of [
    ['login', 'true'],
    ['', null],
  ] as const) {
    validations = [];
    const there = await away(prompt);
    expect(there.searchParams.get('renew')).toBe(renew);
    expect((await browser.get(comeBack(there))).statusCode).toBe(303);
    expect(validations.map((query) => query.get('renew'))).toEqual([renew]);
  }
});
