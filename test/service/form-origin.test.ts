import { expect, test } from '@jest/globals';
import { authorizePath, Browser } from './support.ts';
import { useTestService } from './use-test-service.ts';

const { service } = useTestService();

/** Sends a correct login form with correct cookies, and with these headers. */
async function logInFrom(headers: Record<string, string>): Promise<number> {
  const browser = new Browser(service.url);
  const page = await browser.get(authorizePath());
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const form = { csrf, username: 'alice', password: 'alice-pass' };
  return (await browser.post('/oauth2.0/login', form, headers)).statusCode;
}

test("a login form is accepted only from the service's own origin, or without an Origin only under its own host name", async () => {
  const port = new URL(service.url).port;
  expect(await logInFrom({})).toBe(303);
  expect(await logInFrom({ origin: service.url, 'sec-fetch-site': 'same-origin' })).toBe(303);
  // A foreign host name that resolves to this machine: origin and host agree, but neither is the service's own.
  expect(await logInFrom({ host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403);
  expect(await logInFrom({ host: 'evil.example' })).toBe(403);
  expect(await logInFrom({ origin: 'null' })).toBe(403);
});

test('a page opened under another host name of this machine redirects to the public one', async () => {
  const { port } = new URL(service.url);
  const moved = await new Browser(service.url, { host: `localhost:${port}` }).get(authorizePath());
  expect([moved.statusCode, moved.headers.location]).toEqual([307, `${service.url}${authorizePath()}`]);
});
