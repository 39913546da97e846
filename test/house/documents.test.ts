import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { cutFences, PAGES, readPage } from './pages.ts';

const MAX_WORDS_OF_README = 1_500;
/** Pages for operators. */
const GUIDES = /(?:^|\/)(?:USING|WECOM|SLACK|SIGN_IN|SERVICE|OPERATIONS|SETTINGS)\.md$/;

test('the README stays below its size limit', () => {
  expect(readPage('README.md').split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(MAX_WORDS_OF_README);
});

test.each(PAGES.filter((page) => GUIDES.test(page)))('%s begins with one sentence about its purpose', (page) => {
  const [title = '', opening = ''] = cutFences(readPage(page))
    .prose.join('\n')
    .split(/\n{2,}/)
    .filter((paragraph) => !paragraph.startsWith('<!--'));
  expect(title).toMatch(/^# \S/);
  expect(opening).toMatch(/^(?:This page [^.]+\.(?: |$)|本页[^。]+。)/);
});

describe('the messages that OPERATIONS explains', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join('src', path), 'utf8').replaceAll('’', "'"))
    .join('\n');
  const sentences = PAGES.filter((page) => page.endsWith('OPERATIONS.md')).flatMap((page) =>
    readPage(page)
      .split(/^## (?:Troubleshooting|故障排查)$/m)
      .slice(1)
      .flatMap((part) => [...part.matchAll(/^\| `([^`]+)` /gm)])
      .map(([, sentence = '']) => [page, sentence] as const),
  );

  test('are more than 30', () => expect(sentences.length).toBeGreaterThan(30));

  test.each(sentences)('in %s include “%s”, which occurs in the code', (_page, sentence) => {
    for (const part of sentence.split('…').map((each) => each.trim()))
      expect({ part, isSaid: sources.includes(part) }).toEqual({ part, isSaid: true });
  });
});

test('every JSON example in the pages can be parsed, and the client lists are accepted by the service', () => {
  const examples = PAGES.flatMap((page) => cutFences(readPage(page)).fences)
    .filter(({ language }) => language === 'json')
    .map(({ lines }) => lines.join('\n'));
  expect(examples.length).toBeGreaterThanOrEqual(3);
  for (const example of examples) expect(() => JSON.parse(example) as unknown).not.toThrow();
  const clients = examples.filter((example) => example.includes('"client_id"'));
  for (const example of clients) expect(parseClientsFile(example)).toHaveLength(1);
  expect(clients).not.toEqual([]);
});
