import { expect } from '@jest/globals';
import { TestBrowser } from './test-browser.ts';
import type { IdentityFixture } from './identity-fixture.ts';

/** Number of parallel sign-ins, and of parallel useless requests. */
const AT_ONCE = 20;

/**
 * Signs in many people behind one address within one minute of the rate limiter's clock, while useless requests arrive from
 * the same address.
 * @returns the number of links made, and the statuses of the useless requests
 */
export async function signInCampus(
  fixture: IdentityFixture,
  { people, noise }: { people: number; noise: number },
): Promise<{ linked: number; noiseStatuses: Set<number> }> {
  const noiseStatuses = new Set<number>();
  for (let done = 0; done < noise; done += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => beUseless(fixture, done + index)));
    for (const { status } of answers) noiseStatuses.add(status);
  }
  let linked = 0;
  for (let done = 0; done < people; done += AT_ONCE) {
    const count = Math.min(AT_ONCE, people - done);
    const walks = Array.from({ length: count }, async (_, index) => {
      const [, outcome] = await Promise.all([
        beUseless(fixture, index),
        walk(fixture, String(20_000_000 + done + index)),
      ]);
      return outcome;
    });
    for (const outcome of await Promise.all(walks)) linked += outcome;
  }
  return { linked, noiseStatuses };
}

async function walk(fixture: IdentityFixture, chatUserId: string): Promise<number> {
  const browser = fixture.browser(chatUserId, chatUserId);
  const page = await fixture.walk(browser, await fixture.link(chatUserId));
  expect([page.status, chatUserId]).toEqual([200, chatUserId]);
  return (await fixture.identity.accountOf(fixture.owner, chatUserId))?.accountId === chatUserId ? 1 : 0;
}

function beUseless(fixture: IdentityFixture, index: number) {
  const browser = new TestBrowser();
  if (index % 3 === 0) return browser.get(`${fixture.url}/link/${'x'.repeat(43)}`);
  if (index % 3 === 1) return browser.get(`${fixture.url}/oauth/callback?code=1&state=2`);
  return browser.send('POST', `${fixture.url}/link/${'y'.repeat(43)}/start`, { form: { csrf: 'x' } });
}
