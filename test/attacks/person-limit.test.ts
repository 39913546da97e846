import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { floodGroups } from './flood-groups.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { SIGN_IN: 'off', ROLES: 'receiver' } });
}, 60_000);
afterAll(() => deployment.stop());

test('one person in 32 groups is limited to 20 messages per minute without affecting another person', async () => {
  expect(await floodGroups(deployment, { userId: 'flooder', groups: 32, each: 2 })).toEqual({ taken: 20, refused: 44 });
  expect(await floodGroups(deployment, { userId: 'neighbour', groups: 3, each: 1 })).toEqual({ taken: 3, refused: 0 });
});
