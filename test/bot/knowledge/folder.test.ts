import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createKnowledge } from '../../../src/bot/knowledge/create-knowledge.ts';
import type { Reader } from '../../../src/bot/knowledge/knowledge.ts';
import { makePptx, slideShape, slideText } from './documents/make-zip.ts';
import { KnowledgeFixture, STAFF, STAFF_IN_GROUP, STRANGER, STUDENT } from './knowledge-fixture.ts';

let fixture: KnowledgeFixture;
beforeEach(() => void (fixture = new KnowledgeFixture()));
afterEach(() => fixture.end());

const docs = { name: 'docs', folder: 'docs', readers: 'public' };
/** A word in every document of a test, so that one search finds all of them. */
const SHARED = 'otter';
const all = () => fixture.titles(SHARED).then((titles) => titles.sort());
const foundAll = (...titles: string[]) => fixture.until(async () => (await all()).join() === titles.sort().join());

test('without sources, knowledge has nothing to search', async () => {
  expect(fixture.use().hasSources).toBe(false);
  expect(await fixture.find('anything')).toEqual([]);
});

test('a process without an index searches that of its parent, and checks the rights of the reader itself [knowledge-rights]', async () => {
  fixture.write('docs/a.txt', `${SHARED} for everyone`);
  fixture.write('staff/b.txt', `${SHARED} for staff`);
  const sources = [docs, { name: 'staff', folder: 'staff', readers: { identity: ['JG'] } }];
  fixture.use(...sources);
  await foundAll('a', 'b');
  const child = createKnowledge({
    folder: fixture.path('none'),
    report: Object.fromEntries(Object.keys(fixture.told).map((kind) => [kind, () => undefined])) as never,
    nowMs: Date.now,
    openIndex: () => {
      throw new Error('it has no index');
    },
    // A parent that forgets whose question it is.
    searchParent: (query, signal) => fixture.kept.searchLocal({ ...query, reader: STAFF }, signal),
  });
  const { knowledge, takeOver } = child.read(JSON.stringify({ sources }), fixture.path('knowledge.json'));
  takeOver();
  const titles = async (reader: Reader) =>
    (await knowledge.search(SHARED, reader, new AbortController().signal)).map(({ title }) => title).sort();
  expect(await titles(STAFF)).toEqual(['a', 'b']);
  expect(await titles(STUDENT)).toEqual(['a']);
  await child.close();
});

test('documents of every text format are found with title, text, link and date, in subfolders as well', async () => {
  fixture.write('docs/leave.md', `---\ndate: 2026-02-01\n---\n# Annual leave\n\nThe ${SHARED} has 15 days of leave.\n`);
  fixture.write('docs/图书馆/开放 时间.txt', `${SHARED} 图书馆周末九点开门，十点闭馆。`);
  fixture.write(
    'docs/page.html',
    `<title>Parking</title><nav>menu</nav><h1>Where</h1><p>The ${SHARED} parks &amp; rests.<script>x()</script>`,
  );
  fixture.write('docs/phones.csv', `name,extension\n${SHARED},5120\n`);
  fixture.use({ ...docs, url: 'https://docs.example.edu/all' });
  await foundAll('Annual leave', '开放 时间', 'Parking', 'phones');
  expect(await fixture.find('how many days of annual leave?')).toEqual([
    {
      documentId: expect.stringMatching(/^[0-9a-f]{16}$/),
      source: 'docs',
      title: 'Annual leave',
      place: 'Annual leave',
      text: `# Annual leave\n\nThe ${SHARED} has 15 days of leave.`,
      url: 'https://docs.example.edu/all/leave.md',
      date: '2026-02-01',
      score: expect.any(Number),
    },
  ]);
  const [library] = await fixture.find('图书馆几点开门');
  expect(library).toMatchObject({
    title: '开放 时间',
    url: `https://docs.example.edu/all/${encodeURIComponent('图书馆')}/${encodeURIComponent('开放 时间.txt')}`,
  });
  expect((await fixture.find('where to park'))[0]?.text).toBe(`# Where\n\nThe ${SHARED} parks & rests.`);
  expect((await fixture.find('extension 5120'))[0]?.text).toMatch(/name.*extension[^]*otter.*5120/);
  expect(await fixture.find('quantum chromodynamics')).toEqual([]);
  expect(await fixture.find('what is the of and how')).toEqual([]);
});

test('a document has its opening heading as title, as plain text, else its file name', async () => {
  const texts = {
    opening: `\n<!-- a comment -->\n[![build](b.svg)](https://ci.example.edu)\n# 🛠️ Guide to [the pool](pool.md) ©\n${SHARED}`,
    underlined: `Opening hours\n=====\n${SHARED}`,
    section: `## Install\n${SHARED}`,
    later: `${SHARED}\n\n# Tutorials`,
    picture: `# ![logo](logo.png)\n${SHARED}`,
  };
  for (const [name, text] of Object.entries(texts)) fixture.write(`docs/${name}.md`, text);
  fixture.use(docs);
  await foundAll('Guide to the pool ©', 'Opening hours', 'section', 'later', 'picture');
}, 60_000);

test('PDF, Word, Excel and PowerPoint files are indexed by page, sheet and slide, and unreadable files are reported once', async () => {
  for (const name of ['handbook.pdf', 'rules.docx', 'book.xlsx', 'password.pdf'])
    cpSync(join('test/bot/knowledge/documents/files', name), fixture.path('docs', name));
  const slides = ['Welcome', 'Kayak storage'].map((title) => ({ shapes: slideShape(slideText(title), 'title') }));
  writeFileSync(fixture.path('docs', 'tour.pptx'), makePptx(slides));
  fixture.write('docs/broken.pdf', '%PDF-1.7 and no more');
  fixture.use(docs);
  await fixture.until(() => fixture.told.indexed.length > 0);
  expect(fixture.told.documentsLeftOut.at(-1)?.reasons).toEqual([
    { reason: 'broken', count: 1, first: 'broken.pdf' },
    { reason: 'encrypted', count: 1, first: 'password.pdf' },
  ]);
  const [first] = fixture.told.indexed;
  expect(first).toMatchObject({ documents: 6 });
  fixture.write('docs/more.md', '# More');
  await fixture.until(() => fixture.told.indexed.length > 1);
  expect(fixture.told.documentsLeftOut).toHaveLength(1);
  expect((await fixture.find('chapter 3'))[0]).toMatchObject({ title: 'Handbook', place: 'page 3' });
  expect((await fixture.find('kayak storage'))[0]).toMatchObject({
    title: 'Welcome',
    place: 'slide 2 · Kayak storage',
  });
  expect((await fixture.find('how many seats has room A101'))[0]).toMatchObject({
    title: 'book',
    place: 'sheet Rooms',
  });
  expect((await fixture.find('overdue books'))[0]).toMatchObject({ title: 'Hello', place: 'section 图书馆借阅规则' });
}, 60_000);

test('a document that is added, changed, moved or deleted is noticed within seconds, without a restart', async () => {
  fixture.write('docs/a.md', `# First\n${SHARED}`);
  fixture.use(docs);
  await foundAll('First');
  fixture.write('docs/b.md', `# Second\n${SHARED}`);
  await foundAll('First', 'Second');
  fixture.write('docs/a.md', `# Other\n${SHARED}`);
  await foundAll('Other', 'Second');
  renameSync(fixture.path('docs/b.md'), fixture.path('docs/c.md'));
  await fixture.until(async () => fixture.told.indexed.length === 4);
  await foundAll('Other', 'Second');
  rmSync(fixture.path('docs/a.md'));
  await foundAll('Second');
}, 60_000);

describe('rights to documents of a folder [knowledge-rights]', () => {
  test('the readers of a document override those of its source, and a source without readers is closed', async () => {
    fixture.write('docs/open.md', `---\nreaders: public\n---\n# Open\n${SHARED}`);
    fixture.write('docs/staff.md', `---\nreaders: { identity: [JG] }\n---\n# Staff\n${SHARED}`);
    fixture.write('docs/slip.md', `---\nreaders: publik\n---\n# Slip\n${SHARED}`);
    fixture.write('docs/plain.md', `# Plain\n${SHARED}`);
    fixture.write('none/none.md', `# None\n${SHARED}`);
    fixture.use({ ...docs, readers: { identity: ['XS'] } }, { name: 'none', folder: 'none' });
    await fixture.until(() => fixture.told.indexed.some(({ documents }) => documents === 5));
    expect(await fixture.titles(SHARED, STAFF)).toEqual(['Open', 'Staff']);
    expect(await fixture.titles(SHARED, STUDENT)).toEqual(['Open', 'Plain']);
    for (const reader of [STRANGER, STAFF_IN_GROUP]) expect(await fixture.titles(SHARED, reader)).toEqual(['Open']);
  });

  test('unreadable documents neither displace readable ones nor change their scores', async () => {
    fixture.write('docs/mine.md', `---\nreaders: { identity: [XS] }\n---\n# Mine\n${SHARED} canteen`);
    fixture.use({ ...docs, readers: { identity: ['JG'] } });
    await fixture.until(async () => (await fixture.find(SHARED, STUDENT)).length === 1);
    const alone = await fixture.find(`${SHARED} canteen`, STUDENT);
    for (let number = 0; number < 30; number += 1)
      fixture.write(`docs/${number}.md`, `# Other ${number}\n${`${SHARED} canteen `.repeat(20)}`);
    await fixture.until(async () => (await fixture.find(SHARED, STAFF)).length === 8);
    expect(await fixture.find(`${SHARED} canteen`, STUDENT)).toEqual(alone);
  });

  test('narrowing the readers of a document or removing a source takes effect without a restart', async () => {
    fixture.write('docs/a.md', `---\nreaders: public\n---\n# A\n${SHARED}`);
    fixture.write('docs/b.md', `# B\n${SHARED}`);
    const before = fixture.use(docs);
    await foundAll('A', 'B');
    fixture.write('docs/a.md', `---\nreaders: { identity: [XS] }\n---\n# A\n${SHARED}`);
    await foundAll('B');
    fixture.use({ ...docs, readers: { identity: ['XS'] } });
    expect(await all()).toEqual([]);
    fixture.use({ name: 'other', folder: 'other' });
    await fixture.until(async () => (await fixture.find(SHARED, STUDENT)).length === 0);
    // Also for a turn that started before the change.
    expect(await before.search(SHARED, STUDENT, new AbortController().signal)).toEqual([]);
  });

  test('a search covers only the named sources', async () => {
    fixture.write('docs/a.md', `# A\n${SHARED}`);
    fixture.write('more/b.md', `# B\n${SHARED}`);
    fixture.use(docs, { name: 'more', folder: 'more', readers: 'public' });
    await foundAll('A', 'B');
    expect(await fixture.titles(SHARED, STAFF, ['more'])).toEqual(['B']);
    expect(await fixture.titles(SHARED, STAFF, [])).toEqual([]);
    expect(await fixture.titles(SHARED, STAFF, ['elsewhere'])).toEqual([]);
  });
});

describe('files of a folder that are no documents [knowledge-borders]', () => {
  const leftOut = () => fixture.told.documentsLeftOut.at(-1)?.reasons;

  test('a link out of the folder is not followed, and a cycle of links ends', async () => {
    fixture.write('secret/key.md', `# Secret\n${SHARED}`);
    fixture.write('docs/in/a.md', `# Inside\n${SHARED}`);
    symlinkSync(fixture.path('secret/key.md'), fixture.path('docs/key.md'));
    symlinkSync(fixture.path('secret'), fixture.path('docs/folder'));
    symlinkSync('..', fixture.path('docs/in/circle'));
    symlinkSync('in/a.md', fixture.path('docs/again.md'));
    symlinkSync('gone.md', fixture.path('docs/lost.md'));
    fixture.use(docs);
    await fixture.until(() => leftOut() !== undefined);
    await foundAll('Inside', 'Inside');
    expect(leftOut()).toEqual([{ reason: 'link_outside', count: 2, first: 'folder' }]);
  });

  test('pipes and hidden files are ignored, and files of unknown type, too large or too deep are skipped and reported', async () => {
    fixture.write('docs/a.md', `# A\n${SHARED}`);
    fixture.write('docs/.hidden.md', SHARED);
    fixture.write('docs/~$a.md', SHARED);
    fixture.write('docs/picture.png', SHARED);
    fixture.write('docs/film.mp4', SHARED);
    fixture.write('docs/large.md', Buffer.alloc(21 * 1_024 * 1_024, `${SHARED} `));
    fixture.write(`docs/${'d/'.repeat(22)}deep.md`, SHARED);
    mkdirSync(fixture.path('docs/folder.md'));
    execFileSync('mkfifo', [fixture.path('docs/pipe.md')]);
    fixture.use(docs);
    await fixture.until(() => leftOut() !== undefined);
    await foundAll('A');
    expect(leftOut()).toEqual([
      { reason: 'too_deep', count: 1, first: 'd/'.repeat(21).slice(0, -1) },
      { reason: 'too_large', count: 1, first: 'large.md' },
      { reason: 'unknown_kind', count: 2, first: 'film.mp4' },
    ]);
  });

  test('a missing folder has no documents, is reported once, and is found again once it is back', async () => {
    fixture.use(docs);
    await fixture.until(() => leftOut() !== undefined);
    expect(leftOut()).toEqual([{ reason: 'no_folder', count: 1, first: fixture.path('docs') }]);
    fixture.write('docs/a.md', `# A\n${SHARED}`);
    await foundAll('A');
    renameSync(fixture.path('docs'), fixture.path('away'));
    await foundAll();
    renameSync(fixture.path('away'), fixture.path('docs'));
    await foundAll('A');
  }, 60_000);
});

test('a question finds documents that use a synonym of the file, in either script and direction, but not within other words', async () => {
  fixture.write('docs/card.md', '# 校园卡\n\n丢失后请立即挂失。');
  fixture.write('docs/net.md', '# Wireless network\n\nSign in with your account.');
  fixture.write('docs/swifts.md', '# Birds\n\nThe swifts return in May.');
  const synonyms = [
    ['饭卡', '校园卡', '一卡通'],
    ['wifi', 'wireless network'],
    ['swift', 'courier'],
  ];
  fixture.useFile({ sources: [docs], synonyms });
  await fixture.until(async () => (await fixture.titles('birds')).length > 0);
  expect((await fixture.titles('饭卡怎么办'))[0]).toBe('校园卡');
  expect((await fixture.titles('飯卡'))[0]).toBe('校园卡');
  expect((await fixture.titles('用WiFi吗'))[0]).toBe('Wireless network');
  expect(await fixture.titles('prowifing')).toEqual([]);
  expect(await fixture.titles('courier swiftly')).not.toContain('Wireless network');
});

test('words that only ask do not find documents by chance, and spellings of a word find each other', async () => {
  fixture.write('docs/borrow.md', '# 借书规定\n\n学生可借 20 册图书，借期 30 天，每册可续借一次。');
  fixture.write('docs/preface.md', '# 前言\n\n本书可以帮助读者。我可以推荐这本书，读多少本书都不够。');
  fixture.write('docs/geometry.md', '# 几何课\n\n几何课每周两次。');
  fixture.write('docs/library.md', '# 图书馆\n\n图书馆九点开门。');
  fixture.write('docs/network.md', '# Wi-Fi\n\nChoose the Wi-Fi network.');
  fixture.write('docs/guests.md', '# Guests\n\nGuests use the open wifi.');
  fixture.use(docs);
  await fixture.until(async () => (await fixture.titles('guests')).length > 0);
  expect((await fixture.titles('我可以借多少本书'))[0]).toBe('借书规定');
  expect((await fixture.titles('几何课什么时候上'))[0]).toBe('几何课');
  expect((await fixture.titles('圖書館'))[0]).toBe('图书馆');
  for (const spelling of ['wifi', 'Wi-Fi', 'WiFi'])
    expect((await fixture.titles(spelling)).sort()).toEqual(['Guests', 'Wi-Fi']);
});
