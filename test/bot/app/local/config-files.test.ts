import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const person = z.strictObject({
  username: z.string().min(1),
  password: z.string().startsWith('plain:'),
  profile: z.strictObject({
    id: z.string().min(1),
    active: z.boolean(),
    parentIdentityInfo: z.strictObject({ name: z.string(), code: z.enum(['JG', 'XS', 'QT']) }),
    attributes: z.strictObject({
      BMBM: z.string(),
      BMMC: z.string(),
      XGH: z.string(),
      XM: z.string(),
      objectId: z.string(),
    }),
  }),
  messaging: z.strictObject({ wecom: z.string().regex(/^[\w.-]+$/) }),
});
const group = z.strictObject({ id: z.string().min(1), name: z.string().min(1), members: z.array(z.string()).min(3) });

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const people = z.array(person).parse(readJson('examples/people.json'));

test('the local people are staff and students with unique ids, exactly one of them inactive', () => {
  for (const idOf of [
    (each: (typeof people)[number]) => each.username,
    (each: (typeof people)[number]) => each.profile.id,
    (each: (typeof people)[number]) => each.messaging.wecom,
  ]) {
    expect(new Set(people.map(idOf)).size).toBe(people.length);
  }
  expect(new Set(people.map(({ profile }) => profile.parentIdentityInfo.code))).toEqual(new Set(['JG', 'XS']));
  expect(people.filter(({ profile }) => !profile.active)).toHaveLength(1);
});

test('every group member is a configured person', () => {
  const groups = z.array(group).min(1).parse(readJson('examples/groups.json'));
  const ids = new Set(people.map(({ messaging }) => messaging.wecom));
  for (const { members } of groups) expect(members.filter((member) => !ids.has(member))).toEqual([]);
});
