import { expect, test } from '@jest/globals';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { startIdentityFixture } from '../identity-fixture.ts';
import { startOidcStandIn } from './oidc-stand-in.ts';

const HOUR_MS = 3_600_000;

const server = useTestRedis();

test('the daily check reads claims that only the id token has, even with a valid access token [daily-check]', async () => {
  const provider = await startOidcStandIn();
  provider.mischief = { claims: { dept: 'Library' } };
  const fixture = await startIdentityFixture(server.redis, {
    provider,
    signIn: { type: 'oidc', keepTokens: 'both', profileMap: { BMMC: ['dept'] } },
  });
  await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
  const departmentName = async () => (await fixture.identity.accountOf(fixture.owner, '20001'))?.departmentName;
  expect(await departmentName()).toBe('Library');
  provider.refreshMischief = { claims: { dept: 'Physics' }, token: { expires_in: 86_400 } };
  for (const dept of ['Physics', 'Chemistry']) {
    provider.refreshMischief.claims = { dept };
    // Another caller refreshed the token an hour earlier.
    fixture.clock.nowMs += 23 * HOUR_MS;
    await fixture.identity.freshAccessToken(fixture.owner, '20001');
    fixture.clock.nowMs += HOUR_MS;
    await fixture.identity.recheckDue(10);
    expect(await departmentName()).toBe(dept);
  }
  await Promise.all([fixture.close(), provider.close()]);
});
