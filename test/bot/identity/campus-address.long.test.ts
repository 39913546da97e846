import { expect, test } from '@jest/globals';
import { signInCampus } from './campus-address.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open: start } = useIdentityFixture();

test('2,000 people behind one address sign in with the right links despite 3,000 useless requests', async () => {
  await start({ isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(fixture, { people: 2_000, noise: 1_000 });
  expect(linked).toBe(2_000);
  expect(noiseStatuses).toContain(429);
}, 300_000);
