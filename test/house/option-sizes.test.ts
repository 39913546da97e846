import { readdirSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { MemberCounter } from './count-members.ts';

/** Parameter types of functions and classes, by the endings of their names. */
const GIVEN = /(?:Options|Parts|Deps|Side|Flow)$/;
/** Larger types should be split by purpose (CONTRIBUTING.md). */
const MAX_MEMBERS = 12;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name}`);

test('no parameter type has more members than the limit', () => {
  const counter = new MemberCounter();
  const given = sources.flatMap((file) => counter.typesOf(file)).filter(({ name }) => GIVEN.test(name));
  const tooLarge = given
    .filter(({ members }) => members.size > MAX_MEMBERS)
    .map(({ file, name, members }) => `${file}: ${name} has ${members.size} members, at most ${MAX_MEMBERS}`);
  expect(tooLarge).toEqual([]);
  expect(given.length).toBeGreaterThan(50);
});

test('inherited, picked, omitted and joined members are counted', () => {
  const files: Record<string, string> = {
    'src/a.ts': `
      import type { Base as Other } from './b.ts';
      export interface Small { one: string; two?(): void }
      export interface AllOptions extends Small, Omit<Other, 'four'>, Pick<Unknown, 'five' | 'six'> { 'seven': number }
      export type JoinedParts = Partial<AllOptions> & { eight: string; one: string };`,
    'src/b.ts': 'export interface Base { three: string; four: string }',
  };
  const counter = new MemberCounter((file) => files[file] ?? '');
  const sizes = counter.typesOf('src/a.ts').map(({ name, members }) => [name, members.size]);
  expect(sizes).toEqual([
    ['Small', 2],
    ['AllOptions', 6],
    ['JoinedParts', 7],
  ]);
});
