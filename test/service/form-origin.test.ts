import { expect, test } from '@jest/globals';
import { authorizePath, Browser } from './support.ts';
import { useTestService } from './use-test-service.ts';

const { service } = useTestService();

/** Sends a right login form, with right cookies, as if it stood where these headers say. */
async function logInFrom(headers: Record<string, string>): Promise<number> {
  const browser = new Browser(service.url);
  const page = await browser.get(authorizePath());
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const form = { csrf, username: 'alice', password: 'alice-pass' };
  return (await browser.post('/oauth2.0/login', form, headers)).statusCode;
}

test('a form of ours was sent from our own origin; where no origin is told, under our own name', async () => {
  const port = new URL(service.url).port;
  expect(await logInFrom({})).toBe(303);
  expect(await logInFrom({ origin: service.url, 'sec-fetch-site': 'same-origin' })).toBe(303);
  // A name of somebody else's that leads to this machine: then origin and host agree, and neither is ours.
  expect(await logInFrom({ host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403);
  expect(await logInFrom({ host: 'evil.example' })).toBe(403);
  expect(await logInFrom({ origin: 'null' })).toBe(403);
});

test('a page that is opened under another name of this machine goes to ours', async () => {
  const { port } = new URL(service.url);
  const moved = await new Browser(service.url, { host: `localhost:${port}` }).get(authorizePath());
  expect([moved.statusCode, moved.headers.location]).toEqual([307, `${service.url}${authorizePath()}`]);
});
