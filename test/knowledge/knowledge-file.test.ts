import { describe, expect, test } from '@jest/globals';
import { ConfigFileError } from '../../src/base/json-file.ts';
import { parseKnowledgeFile } from '../../src/knowledge/knowledge-file.ts';

const parse = (file: unknown) =>
  parseKnowledgeFile(typeof file === 'string' ? file : JSON.stringify(file), '/etc/parley/knowledge.json');

function faultsOf(file: unknown): readonly string[] {
  try {
    parse(file);
    return [];
  } catch (error) {
    if (error instanceof ConfigFileError) return error.faults;
    throw error;
  }
}

const source = (more: object) => ({ sources: [{ name: 'rules', folder: 'docs', ...more }] });

test('a folder is found from where the file stands, and is nobody’s unless it says whose', () => {
  expect(parse({ about: ['words'], ...source({}) }).sources).toEqual([
    { kind: 'folder', name: 'rules', folder: '/etc/parley/docs', readers: 'nobody', url: undefined },
  ]);
  expect(
    parse(source({ folder: '/srv/docs', readers: 'public', url: 'https://docs.example.edu/rules' })).sources,
  ).toEqual([
    { kind: 'folder', name: 'rules', folder: '/srv/docs', readers: 'public', url: 'https://docs.example.edu/rules/' },
  ]);
  expect(parse(source({ readers: { identity: ['JG'], departments: ['31*'] } })).sources[0]?.readers).toEqual({
    identity: ['JG'],
    departments: ['31*'],
  });
  expect(parse({ sources: [] }).sources).toEqual([]);
});

describe('what it may not say, each with its place', () => {
  test.each<[what: string, file: unknown, fault: RegExp]>([
    ['no JSON', '{ "sources": [', /^Line 1, column 15/],
    ['nothing', {}, /^sources: Is missing/],
    ['another word', { sources: [], folders: [] }, /^the file: There is nothing called "folders"/],
    ['no kind', { sources: [{ name: 'a' }] }, /^sources\[0\]: Must have one of "folder"/],
    ['no name', { sources: [{ folder: 'a' }] }, /^sources\[0\]\.name: Is missing/],
    ['a name twice', { sources: [source({}).sources[0], source({}).sources[0]] }, /^sources\[1\]\.name: .* before it/],
    ['a word too many', source({ readres: 'public' }), /^sources\[0\]: There is nothing called "readres"/],
    ['readers that are none', source({ readers: 'all' }), /^sources\[0\]\.readers: Must be "public", or a who/],
    ['an unknown identity', source({ readers: { identity: ['XX'] } }), /^sources\[0\]\.readers/],
    [
      'readers who are not signed in',
      source({ readers: { signedIn: false } }),
      /^sources\[0\]\.readers: .*is "public"/,
    ],
    ['no address', source({ url: 'docs' }), /^sources\[0\]\.url: Must be an https or http address/],
    ['an address of a program', source({ url: 'javascript:alert(1)' }), /^sources\[0\]\.url/],
    ['an address with a password', source({ url: 'https://a:b@example.edu/' }), /^sources\[0\]\.url/],
    ['an empty folder', source({ folder: '' }), /^sources\[0\]\.folder: Is empty/],
    ['a list', [], /^the file: Must be an object/],
  ])('%s', (_, file, fault) => {
    const faults = faultsOf(file);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });

  test('all faults are told at once', () => {
    expect(faultsOf({ sources: [{ folder: 'a' }, { name: 'b', folder: 5 }] })).toHaveLength(2);
  });
});
