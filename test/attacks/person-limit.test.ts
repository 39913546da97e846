import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTown, type Town } from '../support/town.ts';
import { floodGroups } from './flood-groups.ts';

let town: Town;
beforeAll(async () => {
  town = await startTown({ env: { SIGN_IN: 'off', ROLES: 'receiver' } });
}, 60_000);
afterAll(() => town.stop());

test('one person over many groups is taken twenty times a minute, and another person meanwhile', async () => {
  expect(await floodGroups(town, { userId: 'flooder', groups: 32, each: 2 })).toEqual({ taken: 20, refused: 44 });
  expect(await floodGroups(town, { userId: 'neighbour', groups: 3, each: 1 })).toEqual({ taken: 3, refused: 0 });
});
