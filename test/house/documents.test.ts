import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { cutFences, PAGES, readPage } from './pages.ts';

const MOST_WORDS_OF_README = 1_500;
/** Pages for whoever sets Parley up or keeps it running. */
const GUIDES = /(?:^|\/)(?:USING|WECOM|SLACK|SIGN_IN|SERVICE|OPERATIONS|SETTINGS)\.md$/;

test('the README stays short enough to be read', () => {
  expect(readPage('README.md').split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(MOST_WORDS_OF_README);
});

test.each(PAGES.filter((page) => GUIDES.test(page)))('%s opens with one sentence that says what it is for', (page) => {
  const [title = '', opening = ''] = cutFences(readPage(page))
    .prose.join('\n')
    .split(/\n{2,}/)
    .filter((paragraph) => !paragraph.startsWith('<!--'));
  expect(title).toMatch(/^# \S/);
  expect(opening).toMatch(/^(?:This page [^.]+\.(?: |$)|本页[^。]+。)/);
});

describe('what somebody sees and looks up', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join('src', path), 'utf8').replaceAll('’', "'"))
    .join('\n');
  const sentences = PAGES.filter((page) => page.endsWith('OPERATIONS.md')).flatMap((page) =>
    readPage(page)
      .split(/^## (?:What to do about what you see|看到什么，怎么办)$/m)
      .slice(1)
      .flatMap((part) => [...part.matchAll(/^\| `([^`]+)` /gm)])
      .map(([, sentence = '']) => [page, sentence] as const),
  );

  test('are many sentences', () => expect(sentences.length).toBeGreaterThan(30));

  test.each(sentences)('%s tells about “%s”, which Parley does say', (_page, sentence) => {
    for (const part of sentence.split('…').map((each) => each.trim()))
      expect({ part, isSaid: sources.includes(part) }).toEqual({ part, isSaid: true });
  });
});

test('every JSON of the pages can be read, and the list of clients by the service', () => {
  const examples = PAGES.flatMap((page) => cutFences(readPage(page)).fences)
    .filter(({ language }) => language === 'json')
    .map(({ lines }) => lines.join('\n'));
  expect(examples.length).toBeGreaterThanOrEqual(3);
  for (const example of examples) expect(() => JSON.parse(example) as unknown).not.toThrow();
  const clients = examples.filter((example) => example.includes('"client_id"'));
  for (const example of clients) expect(parseClientsFile(example)).toHaveLength(1);
  expect(clients).not.toEqual([]);
});
