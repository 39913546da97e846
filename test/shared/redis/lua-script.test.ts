import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadScript } from '../../../src/shared/redis/lua-script.ts';
import type { ScriptShape } from '../../../src/shared/redis/script-shape.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { tries } from '../../support/tries.ts';

let server: TestRedis;
const folder = mkdtempSync(join(tmpdir(), 'scripts-'));
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

function scriptOf<const Shape extends ScriptShape>(lua: string, shape: Shape) {
  writeFileSync(join(folder, 'it.lua'), lua);
  return loadScript(pathToFileURL(join(folder, 'caller.ts')).href, './it.lua', shape);
}

test('keys, arguments and results are matched by name, in any order', async () => {
  const shape = {
    keys: ['one', 'two', '...more'],
    args: ['first', 'second?', '...others'],
    answer: { told: 'text', keys: 'texts', rest: '...texts' },
  } as const;
  const script = scriptOf(
    `return answer { rest = args.others, keys = { keys.two, keys.one, unpack(keys.more) }, told = args.second .. args.first }`,
    shape,
  );
  const texts = fc.array(fc.string(), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      fc.string(),
      fc.option(fc.string(), { nil: undefined }),
      texts,
      texts,
      async (first, second, others, more) => {
        const found = await script.run(server.redis, { more, two: 'b', one: 'a' }, { second, others, first });
        expect(found).toEqual({ told: `${second ?? ''}${first}`, keys: ['b', 'a', ...more], rest: others });
      },
    ),
    { numRuns: tries(50) },
  );
});

test('a missing result has the empty value of its type, and later results are kept', async () => {
  const answer = { n: 'number', t: 'text', f: 'flag', o: 'text?', l: 'texts', word: ['yes', 'no'] } as const;
  const script = scriptOf(`return answer { word = 'yes', f = redis.call('GET', keys.gone) }`, {
    keys: ['gone'],
    answer,
  });
  const nothing = { n: 0, t: '', f: false, o: undefined, l: [], word: 'yes' };
  expect(await script.run(server.redis, { gone: 'gone' }, {})).toEqual(nothing);
  const all = scriptOf(`return answer { n = 7, t = 8, f = true, o = 'o', l = { 'a' }, word = 'no' }`, {
    keys: [],
    answer,
  });
  expect(await all.run(server.redis, {}, {})).toEqual({ n: 7, t: '8', f: true, o: 'o', l: ['a'], word: 'no' });
});

test('an omitted optional key is nil, true and false are 1 and 0, and rows are read one by one', async () => {
  const script = scriptOf(
    `return { answer { has = keys.maybe ~= nil, said = args.flag }, answer { said = args.flag } }`,
    { keys: ['one', 'maybe?'], args: ['flag'], rows: { has: 'flag', said: 'text' } },
  );
  expect(await script.run(server.redis, { one: 'a' }, { flag: true })).toEqual([
    { has: false, said: '1' },
    { has: false, said: '1' },
  ]);
  const [first] = await script.run(server.redis, { one: 'a', maybe: 'b' }, { flag: false });
  expect(first).toEqual({ has: true, said: '0' });
});

test('an undeclared name is reported before anything is sent', () => {
  expect(() => scriptOf('return keys.typo', { keys: ['one'] })).toThrow('it.lua says keys.typo');
  expect(() => scriptOf('return args.one', { keys: ['one'] })).toThrow('it.lua says args.one');
});
