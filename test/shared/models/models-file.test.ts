import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConfigFileError } from '../../../src/shared/json-file.ts';
import { createModelCatalog, promptRoom } from '../../../src/shared/models/model-catalog.ts';
import { plainModel } from '../../../src/shared/models/model-entry.ts';
import { parseModelsFile } from '../../../src/shared/models/models-file.ts';

const parse = (...entries: unknown[]) => parseModelsFile(JSON.stringify(entries));

/** @returns the faults of a file with these entries */
function faultsOf(...entries: unknown[]): readonly string[] {
  try {
    parse(...entries);
    return [];
  } catch (error) {
    if (error instanceof ConfigFileError) return error.faults;
    throw error;
  }
}

describe('the models file', () => {
  test('treats an entry with a name only as a plain model: text and tools', () => {
    expect(parse({ name: 'gpt-x' })).toEqual([plainModel('gpt-x')]);
    expect(plainModel('gpt-x')).toMatchObject({
      ...{ label: 'gpt-x', upstream: 'gpt-x', seesImages: false, callsTools: true, thinking: 'none' },
      temperature: { min: 0, max: 2 },
    });
  });

  test('supports every field', () => {
    const [entry] = parse({
      ...{ name: 'quick', label: 'Quick answers', upstream: 'qwen3-vl:8b', images: true, tools: false },
      ...{ thinking: 'reasoning_effort', levels: ['none', 'minimal', 'high'], contextTokens: 32_768 },
      ...{ answerTokens: 2_048, temperature: [0, 1.5], omit: ['user'], defaults: { temperature: 0.3, topP: 0.8 } },
      price: { prompt: 2.5, completion: 10, currency: 'CNY' },
      ...{ firstByteSec: 300, idleSec: 90, thoughtFirst: true, roles: ['system'], headers: { 'X-Tenant': 'physics' } },
    });
    expect(entry).toEqual({
      price: { prompt: 2.5, completion: 10, currency: 'CNY' },
      ...{ name: 'quick', label: 'Quick answers', upstream: 'qwen3-vl:8b', seesImages: true, callsTools: false },
      ...{ thinking: 'reasoning_effort', levels: ['minimal', 'high'], hasNoneLevel: true, contextTokens: 32_768 },
      ...{ answerTokens: 2_048, temperature: { min: 0, max: 1.5 }, omit: new Set(['user']) },
      ...{ defaults: { temperature: 0.3, topP: 0.8 }, firstByteMs: 300_000, idleMs: 90_000 },
      ...{ thoughtFirst: true, roles: new Set(['system']), headers: { 'x-tenant': 'physics' } },
    });
  });

  test('uses the default levels for reasoning_effort without levels', () => {
    expect(parse({ name: 'o', thinking: 'reasoning_effort' })[0]?.levels).toEqual(['low', 'medium', 'high']);
  });

  test.each<[what: string, entry: unknown, fault: RegExp]>([
    ['a misspelt field', { name: 'a', image: true }, /^\[0\].*image/],
    ['no name', { images: true }, /^\[0\]\.name/],
    ['a name with a space', { name: 'a b' }, /^\[0\]\.name: must be a name without spaces/],
    ['an invalid switch', { name: 'a', tools: 'yes' }, /^\[0\]\.tools/],
    ['an unknown dialect', { name: 'a', thinking: 'deep' }, /^\[0\]\.thinking/],
    ['a reversed temperature range', { name: 'a', temperature: [1, 0] }, /^\[0\]\.temperature: must be the minimum/],
    ['a zero timeout', { name: 'a', firstByteSec: 0 }, /^\[0\]\.firstByteSec/],
    ['an endless silence', { name: 'a', idleSec: 86_400 }, /^\[0\]\.idleSec/],
    ['no room for an answer', { name: 'a', answerTokens: 0 }, /^\[0\]\.answerTokens/],
    [
      'a header with an invalid name',
      { name: 'a', headers: { 'X Tenant': 'a' } },
      /^\[0\]\.headers: header 1 has an invalid/,
    ],
    ['a header twice', { name: 'a', headers: { 'x-a': 'b', 'X-A': 'b' } }, /^\[0\]\.headers: sets x-a twice/],
    [
      'a header value with a line break',
      { name: 'a', headers: { 'x-a': 'sk\n1' } },
      /^\[0\]\.headers.*: must be printable ASCII/,
    ],
    [
      'a header without its secret',
      { name: 'a', headers: { 'x-a': '{secret}' } },
      /^\[0\]\.headers: needs MODELS_SECRET/,
    ],
    ...[
      'Authorization',
      'Content-Type',
      'content-length',
      'HOST',
      'Connection',
      'Transfer-Encoding',
      'Proxy-Authorization',
    ].map((name): [string, unknown, RegExp] => [
      `the header ${name}`,
      { name: 'a', headers: { [name]: 'sk-1' } },
      new RegExp(`^\\[0\\]\\.headers: must not set ${name.toLowerCase()}$`),
    ]),
  ])('reports %s with its place', (_, entry, fault) => {
    expect(faultsOf(entry)).toEqual([expect.stringMatching(fault)]);
  });

  test('reports a model that is listed twice', () => {
    expect(faultsOf({ name: 'a' }, { name: 'b' }, { name: 'a' })).toEqual(['[2].name: is listed twice']);
  });

  test('is accepted or refused with faults, for any content', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          for (const entry of parseModelsFile(JSON.stringify(value))) expect(entry.name).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigFileError);
        }
      }),
    );
  });
});

test('treats an unlisted model as plain, and marks it as unlisted', () => {
  const catalog = createModelCatalog(parse({ name: 'a', images: true }));
  expect([catalog.lists('a'), catalog.of('a').seesImages]).toEqual([true, true]);
  expect([catalog.lists('b'), catalog.of('b')]).toEqual([false, plainModel('b')]);
  // Not a property of every object.
  expect(catalog.of('constructor')).toEqual(plainModel('constructor'));
});

test('leaves room for the answer in the context of the model', () => {
  const roomOf = (fields: object) => promptRoom({ ...plainModel('a'), ...fields }, 24_000);
  expect(roomOf({})).toBe(24_000);
  expect(roomOf({ contextTokens: 200_000 })).toBe(150_000);
  expect(roomOf({ contextTokens: 8_192 })).toBe(6_144);
  expect(roomOf({ contextTokens: 8_192, answerTokens: 512 })).toBe(7_680);
  expect(roomOf({ contextTokens: 8_192, answerTokens: 8_000 })).toBe(6_144);
});
