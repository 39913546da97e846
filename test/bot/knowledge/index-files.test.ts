import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { KnowledgeFixture, STAFF } from './knowledge-fixture.ts';

let fixture: KnowledgeFixture;
const others: KnowledgeFixture[] = [];
beforeEach(() => void (fixture = new KnowledgeFixture()));
afterEach(async () => {
  await fixture.end();
  for (const other of others.splice(0)) await other.end();
});

const docs = () => ({ name: 'docs', folder: fixture.path('docs'), readers: 'public' });

/** Restarts over the same folders. */
function startAgain(): KnowledgeFixture {
  const next = new KnowledgeFixture({ indexFolder: fixture.path('index') });
  others.push(next);
  return next;
}

async function indexed(count = 3): Promise<void> {
  for (let number = 0; number < count; number += 1)
    fixture.write(`docs/${number}.md`, `# Number ${number}\notter ${number}\n`);
  fixture.use(docs());
  await fixture.until(async () => (await fixture.find('otter')).length === Math.min(count, 8));
  await fixture.kept.close();
}

const segments = () => readdirSync(fixture.path('index')).filter((name) => name.endsWith('.segment'));

test('the index survives a restart without re-reading the documents, and only its owner can read it', async () => {
  await indexed();
  expect(statSync(fixture.path('index')).mode & 0o077).toBe(0);
  for (const name of readdirSync(fixture.path('index')))
    expect(statSync(fixture.path('index', name)).mode & 0o077).toBe(0);
  const next = startAgain();
  next.use(docs());
  await next.until(async () => (await next.find('otter')).length === 3);
  expect(next.told.indexed).toEqual([]);
});

test('a document changed while nothing ran is never shown in its old state [knowledge-rights]', async () => {
  await indexed();
  fixture.write('docs/0.md', '---\nreaders: { identity: [XS] }\n---\n# Number 0\notter 0\n');
  rmSync(fixture.path('docs/1.md'));
  const next = startAgain();
  next.use(docs());
  const seen: string[][] = [];
  await next.until(async () => {
    seen.push((await next.titles('otter', STAFF)).sort());
    return next.told.indexed.length > 0;
  });
  expect(seen.filter((titles) => titles.includes('Number 0') || titles.includes('Number 1'))).toEqual([]);
  expect(await next.titles('otter', STAFF)).toEqual(['Number 2']);
});

test('a source with the same name and another folder shows nothing of the first folder [knowledge-rights]', async () => {
  await indexed();
  const next = startAgain();
  next.write('docs/x.md', '# X\notter');
  next.use({ ...docs(), folder: next.path('docs') });
  const seen = new Set<string>();
  await next.until(async () => {
    for (const title of await next.titles('otter')) seen.add(title);
    return next.told.indexed.length > 0;
  });
  expect([...seen, ...(await next.titles('otter'))].filter((title) => title !== 'X')).toEqual([]);
});

test('a source that changes its folder at run time shows nothing of the previous folder [knowledge-rights]', async () => {
  fixture.write('docs/a.md', '# A\notter');
  fixture.use({ ...docs(), readers: { identity: ['XS'] } });
  await fixture.until(() => fixture.told.indexed.length > 0);
  fixture.use({ ...docs(), folder: fixture.path('elsewhere') });
  expect(await fixture.titles('otter', STAFF)).toEqual([]);
});

test.each<[what: string, harm: (path: string, list: string) => void]>([
  ['a flipped byte', (path) => flip(path, 200)],
  ['a flipped byte of the text', (path) => flip(path, statSync(path).size - 3)],
  ['half a file', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['an empty file', (path) => truncateSync(path, 0)],
  ['no file', (path) => rmSync(path)],
  ['a list of the wrong type', (_, list) => rewrite(list, /"segments":.*/s, '"segments":5}')],
  ['a list of nothing', (_, list) => rewrite(list, /"segments":.*/s, '"segments":[null]}')],
  ['a list cut off', (_, list) => truncateSync(list, 20)],
  ['a list of another version', (_, list) => rewrite(list, /"format":\d+/, '"format":0')],
  ['a list that leads elsewhere', (_, list) => rewrite(list, /"file":"/, '"file":"../')],
])('%s on disk: the documents are read again', async (_, harm) => {
  await indexed();
  const [name] = segments();
  harm(fixture.path('index', String(name)), fixture.path('index', 'index.json'));
  const next = startAgain();
  next.use(docs());
  await next.until(async () => (await next.find('otter')).length === 3);
  expect(next.told.indexed).toHaveLength(1);
});

/** Fails if the list does not match the pattern. */
function rewrite(list: string, words: RegExp, by: string): void {
  const before = readFileSync(list, 'utf8');
  expect(before).toMatch(words);
  writeFileSync(list, before.replace(words, by));
}

function flip(path: string, at: number): void {
  const byte = readFileSync(path)[at] ?? 0;
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([byte ^ 0x10]), 0, 1, at);
  closeSync(file);
}

test('documents stay searchable and new ones are indexed if the index folder is deleted at run time', async () => {
  fixture.write('docs/a.md', '# A\notter');
  fixture.use(docs());
  await fixture.until(async () => (await fixture.find('otter')).length === 1);
  rmSync(fixture.path('index'), { recursive: true });
  fixture.write('docs/b.md', '# B\notter');
  await fixture.until(async () => (await fixture.find('otter')).length === 2);
});

test('documents are indexed in memory if no folder is writable', async () => {
  const before = process.env['TMPDIR'];
  fixture.write('file', 'no folder');
  process.env['TMPDIR'] = fixture.path('file', 'tmp');
  try {
    const next = new KnowledgeFixture({ indexFolder: fixture.path('file', 'index'), root: fixture.root });
    next.write('docs/a.md', '# A\notter in memory');
    next.use(docs());
    await next.until(async () => (await next.find('otter'))[0]?.text === '# A\notter in memory');
    await next.kept.close();
  } finally {
    process.env['TMPDIR'] = before;
    if (before === undefined) delete process.env['TMPDIR'];
  }
});

test('many small changes are merged into few segment files', async () => {
  fixture.use(docs());
  for (let number = 0; number < 30; number += 1) {
    fixture.write(`docs/${number % 15}.md`, `# Number ${number}\notter ${number}`);
    await fixture.until(async () =>
      (await fixture.find(`${number}`)).some(({ title }) => title === `Number ${number}`),
    );
  }
  expect(segments().length).toBeLessThan(12);
  expect((await fixture.find('otter 29'))[0]?.text).toBe('# Number 29\notter 29');
  await fixture.kept.close();
  const next = startAgain();
  next.use(docs());
  await next.until(async () => (await next.find('29')).length === 1);
  expect(next.told.indexed).toEqual([]);
}, 60_000);
