import { expect, test } from '@jest/globals';
import { signInCampus } from './campus-address.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open: start } = useIdentityFixture();

test('60 people behind one address sign in within a minute with the right links, despite noise from the same address', async () => {
  await start({ isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(fixture, { people: 60, noise: 660 });
  expect(linked).toBe(60);
  // The noise itself is rate-limited.
  expect(noiseStatuses).toContain(429);
});
