import { describe, expect, test } from '@jest/globals';
import { ConfigFileError } from '../../../src/shared/json-file.ts';
import { parseKnowledgeFile } from '../../../src/bot/knowledge/knowledge-file.ts';

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

const site = (more: object) => ({ sources: [{ name: 'site', sitemap: 'https://www.example.edu/s.xml', ...more }] });
const source = (more: object) => ({ sources: [{ name: 'rules', folder: 'docs', ...more }] });

test('a folder is resolved relative to the file, and cannot be read by anyone unless it names readers', () => {
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

test('a site defaults to its own host, 5,000 pages, one round a day and a pause of 1 s', () => {
  const given = { name: 'site', sitemap: 'https://www.example.edu:8443/map.xml?a=b' };
  expect(parse({ sources: [given] }).sources).toEqual([
    {
      ...{ kind: 'sitemap', ...given, readers: 'nobody', under: ['https://www.example.edu:8443/'] },
      ...{ mostPages: 5_000, everyMs: 24 * 3_600_000, pauseMs: 1_000 },
    },
  ]);
  const under = ['https://www.example.edu/library', 'http://old.example.edu'];
  expect(
    parse({ sources: [{ ...given, under, mostPages: 9, everyHours: 1.5, pauseSec: 0.05 }] }).sources[0],
  ).toMatchObject({
    under: ['https://www.example.edu/library/', 'http://old.example.edu/'],
    ...{ mostPages: 9, everyMs: 1.5 * 3_600_000, pauseMs: 50 },
  });
});

describe('a faulty knowledge file is rejected with the place of the fault', () => {
  test.each<[what: string, file: unknown, fault: RegExp]>([
    ['no JSON', '{ "sources": [', /^Line 1, column 15/],
    ['nothing', {}, /^sources: Is missing/],
    ['another word', { sources: [], folders: [] }, /^the file: Unknown name: "folders"/],
    ['no kind', { sources: [{ name: 'a' }] }, /^sources\[0\]: Must have one of "folder"/],
    ['one synonym', { sources: [], synonyms: [['wifi']] }, /^synonyms\[0\]: Must have at least two words/],
    ['a synonym of signs', { sources: [], synonyms: [['wifi', '--']] }, /^synonyms\[0\]\[1\]: Must contain a letter/],
    [
      'a synonym in two groups',
      {
        sources: [],
        synonyms: [
          ['Wifi', 'WLAN'],
          ['net', 'wifi'],
        ],
      },
      /^synonyms\[1\]\[1\]: Is already in synonyms\[0\]/,
    ],
    ['no list of synonyms', { sources: [], synonyms: { wifi: 'WLAN' } }, /^synonyms: /],
    ['no name', { sources: [{ folder: 'a' }] }, /^sources\[0\]\.name: Is missing/],
    [
      'a name twice',
      { sources: [source({}).sources[0], source({}).sources[0]] },
      /^sources\[1\]\.name: An earlier source/,
    ],
    ['a word too many', source({ readres: 'public' }), /^sources\[0\]: Unknown name: "readres"/],
    ['invalid readers', source({ readers: 'all' }), /^sources\[0\]\.readers: Must be "public", or a who/],
    [
      'an unknown identity',
      source({ readers: { identity: ['XX'] } }),
      /^sources\[0\]\.readers\.identity\[0\]: Must be one of JG, XS, QT/,
    ],
    ['a misspelt right', source({ readers: { Identity: ['JG'] } }), /readers: Unknown name: "Identity"/],
    [
      'readers who are not signed in',
      source({ readers: { signedIn: false } }),
      /^sources\[0\]\.readers: .*use "public"/,
    ],
    ['no address', source({ url: 'docs' }), /^sources\[0\]\.url: Must be an https or http address/],
    ['an address of a program', source({ url: 'javascript:alert(1)' }), /^sources\[0\]\.url/],
    ['an address with a password', source({ url: 'https://a:b@example.edu/' }), /^sources\[0\]\.url/],
    ['an empty folder', source({ folder: '' }), /^sources\[0\]\.folder: Must not be empty/],
    [
      'a sitemap that is no address',
      site({ sitemap: 'www.example.edu' }),
      /^sources\[0\]\.sitemap: Must be an https or http/,
    ],
    ['a sitemap with a password', site({ sitemap: 'https://a:b@example.edu/s.xml' }), /^sources\[0\]\.sitemap/],
    ['pages under nothing', site({ under: [] }), /^sources\[0\]\.under: Must not be empty/],
    ['pages under a question', site({ under: ['https://a.example/?b'] }), /^sources\[0\]\.under\[0\]: Must be/],
    ['too many pages', site({ mostPages: 20_001 }), /^sources\[0\]\.mostPages: Must have at most 20000/],
    ['rounds that are too frequent', site({ everyHours: 0.5 }), /^sources\[0\]\.everyHours: Must be at least 1/],
    ['no pause', site({ pauseSec: 0 }), /^sources\[0\]\.pauseSec: Must be at least 0.05/],
    ['a field of a folder', site({ url: 'https://a.example/' }), /^sources\[0\]: Unknown name: "url"/],
    ['a list', [], /^the file: Must be an object/],
  ])('%s', (_, file, fault) => {
    const faults = faultsOf(file);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(fault);
  });

  test('all faults are reported at once', () => {
    expect(faultsOf({ sources: [{ folder: 'a' }, { name: 'b', folder: 5 }] })).toHaveLength(2);
  });
});
