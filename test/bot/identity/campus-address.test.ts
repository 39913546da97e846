import { expect, test } from '@jest/globals';
import { signInCampus } from './campus-address.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open: start } = useIdentityFixture();

test('60 people behind one address sign in within a minute, each with the right link, while somebody there makes noise', async () => {
  await start({ isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(fixture, { people: 60, noise: 660 });
  expect(linked).toBe(60);
  // The noise itself was told to wait.
  expect(noiseStatuses).toContain(429);
});
