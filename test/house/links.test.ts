import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anchorsOf, codeOf, linksOf, PAGES, readPage } from './pages.ts';

const anchors = new Map(PAGES.map((page) => [page, anchorsOf(readPage(page))]));

/** The fault of a link, or undefined. External addresses are not requested. */
function faultOf(page: string, link: string): string | undefined {
  if (/^(?:https?:|mailto:)/.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative('.', resolve(dirname(page), decodeURI(path)));
  if (link === '' || target.startsWith('..')) return 'leads out of the project';
  if (!existsSync(target)) return 'leads to no file';
  if (anchor === undefined) return undefined;
  return anchors.get(target)?.includes(decodeURIComponent(anchor)) ? undefined : 'leads to no heading';
}

test.each(PAGES)('every link and anchor in %s has a target', (page) => {
  const faults = linksOf(readPage(page)).map((link) => ({ link, fault: faultOf(page, link) }));
  expect(faults.filter(({ fault }) => fault !== undefined)).toEqual([]);
});

test('every page is reachable by links from README.md or README.zh-CN.md', () => {
  const reached = new Set<string>();
  const follow = (page: string): void => {
    if (reached.has(page) || !PAGES.includes(page)) return;
    reached.add(page);
    for (const link of linksOf(readPage(page)).filter((each) => !/^[a-z]+:/.test(each)))
      follow(join(dirname(page), link.split('#')[0] ?? ''));
  };
  follow('README.md');
  follow('README.zh-CN.md');
  expect(PAGES.filter((page) => !reached.has(page))).toEqual([]);
});

describe('anchors and links are read like on GitHub', () => {
  test.each([
    ['## Run it alone', 'run-it-alone'],
    ['## What is kept, and encrypted', 'what-is-kept-and-encrypted'],
    ['### `same-id` & the [profile](#profile)', 'same-id--the-profile'],
    ['# 接入企业微信（一小时）', '接入企业微信一小时'],
    ['## 启动时：看到什么，怎么办？', '启动时看到什么怎么办'],
    ['## snake_case ##', 'snake_case'],
  ])('of the heading %s', (heading, anchor) => expect(anchorsOf(heading)).toEqual([anchor]));

  test('with a counter for a repeated heading, and ignoring headings in code blocks', () => {
    expect(anchorsOf('# A\n```sh\n# no heading\n```\n## A\n~~~\n# B\n~~~\n')).toEqual(['a', 'a-1']);
  });

  test('in tables, behind pictures and across line breaks, but not in code', () => {
    expect(
      linksOf('| ![a](b.png) | [c\nd](e.md#f) |\n`[g](h)` ``[i](`j`)`` [k](<l.md> "m")\n```\n[n](o)\n```\n[p]: q.md'),
    ).toEqual(['b.png', 'e.md#f', 'l.md', 'q.md']);
  });
});

describe('the files that pages name', () => {
  const MODULES = ['src', 'src/bot', 'test'].flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()),
  );
  const folders = new Set([...MODULES.map(({ name }) => name), 'src', 'test', 'chaos']);
  // Operators write the files in config/ themselves.
  folders.delete('config');
  const exists = (path: string) =>
    [path, `src/${path}`, `src/bot/${path}`, `test/${path}`]
      .flatMap((base) => ['', '.test.ts', '.long.test.ts', '.ts'].map((ending) => base + ending))
      .some((candidate) => existsSync(candidate));

  test.each(PAGES.filter((page) => page !== 'CHANGELOG.md' && !page.includes('ADD_A_')))('exist: %s', (page) => {
    const named = codeOf(readPage(page)).filter(
      (code) => /^[a-z][\w.-]*(?:\/[\w.-]+)+\/?$/.test(code) && folders.has(code.split('/')[0] ?? ''),
    );
    expect(named.map((code) => code.replace(/\/$/, '')).filter((code) => !exists(code))).toEqual([]);
  });
});
