import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Pool } from 'undici';
import { wecomSignIn } from '../../src/service/oauth/methods/wecom-sign-in.ts';
import { fuzzing, fuzzTestMs } from '../support/fuzz-time.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { attempts, MARK, type Attempt } from './sign-in-attempts.ts';
import { authorizePath, Browser, exchange, obtainCode, startTestService, type TestService } from './support.ts';

/** Time of a request that hangs: far above that of any answer, also on a busy machine. */
const HANG_MS = 5_000;
const OPEN_URL = 'http://127.0.0.1:7/open';
const REGISTERED = /^http:\/\/127\.0\.0\.1:9\/(?:oauth\/callback|with\?x=1|other)(?:[?&]|$)/;
const OWN_PATH = /^\/(?![/\\])/;

let server: TestRedis;
let service: TestService;
let pool: Pool;

beforeAll(async () => {
  server = await startTestRedis();
  const wecom = { corpId: 'ww1', agentId: '1', agentSecret: 's', apiUrl: 'http://127.0.0.1:7', openUrl: OPEN_URL };
  service = await startTestService(server.redis, { messagingApps: [wecomSignIn(wecom)], trustedProxyHops: 1 });
  pool = new Pool(service.url, { connections: 4 });
});
afterAll(async () => {
  await pool.destroy();
  await service.close();
  await server.stop();
});

interface Answer {
  status: number;
  location: string | undefined;
  cookies: string;
  body: string;
  tookMs: number;
}

/** The values of valid requests, refreshed regularly since attempts consume them. */
interface Valid {
  cookies: string;
  secrets: Record<'csrf' | 'code' | 'access' | 'refresh' | 'origin', string>;
}

const csrfOf = (body: string) => /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? '';

async function makeValid(surface: Attempt['surface']): Promise<Valid> {
  const browser = new Browser(service.url);
  let page = await browser.get(authorizePath());
  if (surface !== 'login')
    page = await browser.follow(await browser.submit(page, { username: 'zhangwei', password: 'zhangwei-pass' }));
  const tokens =
    surface === 'profile' || surface === 'token' ? await exchange(service, await obtainCode(service)) : undefined;
  if (surface === 'withdraw') page = await browser.get('/account');
  return {
    cookies: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    secrets: {
      csrf: csrfOf(page.body),
      code: surface === 'token' ? await obtainCode(service) : 'x',
      access: String(tokens?.body.access_token),
      refresh: String(tokens?.body.refresh_token),
      origin: service.url,
    },
  };
}

function percentEncode(letter: string): string {
  return `%${(letter.charCodeAt(0) & 0xff).toString(16).padStart(2, '0')}`;
}

async function send(attempt: Attempt, { cookies, secrets }: Valid): Promise<Answer> {
  const fill = (text: string) =>
    text.replace(/\{(csrf|code|access|refresh|origin)\}/g, (_, name: keyof Valid['secrets']) => secrets[name]);
  const fields = fill(attempt.fields ?? '');
  // Node's parser refuses invalid characters in a request line or header before the service sees them.
  const query = attempt.method === 'POST' ? '' : `?${fields.replaceAll(/[^\x21-\x7e]/g, percentEncode)}`;
  const headers = Object.fromEntries(
    Object.entries({ ...(attempt.keepsCookies ? { cookie: cookies } : {}), ...attempt.headers }).map(
      ([name, value]) => [name, fill(value).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '')],
    ),
  );
  const startedAtMs = performance.now();
  const answer = await pool.request({
    path: attempt.path + query,
    method: attempt.method,
    headers,
    ...(attempt.method === 'POST' ? { body: Buffer.from(fields, 'latin1') } : {}),
  });
  const { location, 'set-cookie': set } = answer.headers;
  return {
    status: answer.statusCode,
    location: location === undefined ? undefined : String(location),
    cookies: String(set ?? ''),
    body: await answer.body.text(),
    tookMs: performance.now() - startedAtMs,
  };
}

function judge({ status, location, cookies, body }: Answer, { surface, method }: Attempt): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  if (location !== undefined)
    expect([
      location,
      REGISTERED.test(location) || OWN_PATH.test(location) || location.startsWith(`${OPEN_URL}/`),
    ]).toEqual([location, true]);
  expect(cookies).not.toMatch(/svc-session=[^;]/);
  if (method === 'HEAD') return expect(body).toBe('');
  if (surface === 'token' || surface === 'profile') {
    const told = JSON.parse(body) as Record<string, unknown>;
    if (status !== 200) expect(Object.keys(told)).toEqual(['error', 'error_description']);
    expect(body).not.toContain(MARK);
  }
  return undefined;
}

test(
  'nearly valid requests with flipped bytes cause no fault, hang, foreign redirect or session, and no secret reaches the log',
  async () => {
    const counts = new Map<string, number>();
    const valid = new Map<Attempt['surface'], { made: Valid; uses: number }>();
    const validFor = async (surface: Attempt['surface']) => {
      const known = valid.get(surface);
      if (known && known.uses++ < (surface === 'token' ? 2 : 25)) return known.made;
      const made = await makeValid(surface);
      valid.set(surface, { made, uses: 0 });
      return made;
    };
    await fc.assert(
      fc.asyncProperty(attempts, async (attempt) => {
        const answer = await send(attempt, await validFor(attempt.surface));
        expect(answer.tookMs).toBeLessThan(HANG_MS);
        judge(answer, attempt);
        const kind = `${attempt.surface} ${answer.status}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }),
      fuzzing(500),
    );
    if (process.env['FUZZ_SEC'])
      process.stderr.write(`sign-in fuzzer: ${JSON.stringify(Object.fromEntries([...counts].sort()))}\n`);
    // With enough time, attempts get past the first check of each address.
    const kinds = [...counts.keys()];
    const sent = [...counts.values()].reduce((sum, count) => sum + count, 0);
    expect(sent).toBeGreaterThan(0);
    for (const kind of ['authorize 200', 'login 401', 'decision 303', 'withdraw 303', 'token 200', 'profile 200'])
      if (sent > 2_000) expect(kinds).toContain(kind);
    expect(service.logLines.filter((line) => line.includes(MARK) || line.includes('"level":"error"'))).toEqual([]);
  },
  fuzzTestMs,
);
