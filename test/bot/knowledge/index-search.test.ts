import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPageList } from '../../../src/bot/knowledge/index/page-list.ts';
import { cutIntoPassages } from '../../../src/bot/knowledge/index/passages.ts';
import { PassageIndex } from '../../../src/bot/knowledge/index/passage-index.ts';
import { SegmentFiles } from '../../../src/bot/knowledge/index/segment-files.ts';
import { eachTerm, queryTerms } from '../../../src/shared/text/search-terms.ts';
import { readSitePage } from '../../../src/bot/knowledge/documents/kinds/html.ts';
import { mayRead, type Reader, type Readers } from '../../../src/bot/knowledge/readers.ts';
import { testTier, tries } from '../../support/tries.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';

const root = mkdtempSync(join(tmpdir(), 'parley-search-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const newIndex = () => new PassageIndex(new SegmentFiles(join(root, String((folders += 1)))));

const termsOf = (text: string): number[] => {
  const terms: number[] = [];
  eachTerm(text, (term) => terms.push(term));
  return terms;
};

describe('search terms', () => {
  test.each([
    ['Opening HOURS', 'open hour'],
    ['libraries', 'library'],
    ['borrowed borrowing borrows', 'borrow borrow borrow'],
    ['closes closed close', 'close close close'],
    ['ＡＢＣ１２', 'abc12'],
    ['café', 'CAFÉ'],
  ])('%s has the same term as %s', (one, other) => expect(termsOf(one)).toEqual(termsOf(other)));

  test('of Chinese text are pairs of characters, whatever surrounds them', () => {
    expect(termsOf('图书馆A座')).toEqual([...termsOf('图书'), ...termsOf('书馆'), ...termsOf('a'), ...termsOf('座')]);
    expect(termsOf('𠮷野家')).toHaveLength(2);
    expect(termsOf('bus status')).toHaveLength(2);
    expect(new Set(termsOf('bus busy status state'))).toHaveProperty('size', 4);
  });

  test('of a question do not include stop words', () => {
    expect(queryTerms('What is the opening hour of the library?', 64)).toEqual(termsOf('open hour library'));
    expect(queryTerms('请问图书馆什么时候开门', 64)).toEqual(expect.arrayContaining(termsOf('图书馆')));
    expect(queryTerms('what is it', 64)).toEqual([]);
    expect(queryTerms('word '.repeat(3) + Array.from({ length: 200 }, (_, at) => `w${at}`).join(' '), 64)).toHaveLength(
      64,
    );
  });
});

test('passages are contiguous, limited in length, and never split a character', () => {
  const piece = fc.constantFrom(
    'otter. ',
    '水獭。',
    '\n',
    '\n\n',
    '# Head\n',
    'x'.repeat(400),
    '獭'.repeat(400),
    '😀',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const passages = cutIntoPassages(text);
      let at = 0;
      for (const { from, to } of passages) {
        expect(text.slice(at, from).trim()).toBe('');
        expect(to).toBeGreaterThan(from);
        expect(to - from).toBeLessThanOrEqual(1_510);
        expect(/[\ud800-\udbff]$/.test(text.slice(from, to))).toBe(false);
        at = to;
      }
      expect(text.slice(at).trim()).toBe('');
    }),
    { numRuns: tries(300) },
  );
});

interface Document {
  name: string;
  text: string;
  readers: Readers;
}

const WORDS = 'otter river fish 水獭 河流 图书馆 开放 leave days staff'.split(' ');
const documentOf = fc.record({
  name: fc.constantFrom(...'abcdefghij'),
  text: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }).map((words) => words.join(' ')),
  readers: fc.constantFrom<Readers>(
    'public',
    'nobody',
    {},
    { identity: ['JG'] },
    { identity: ['XS'] },
    { departments: ['31*'] },
  ),
});
const readerOf: fc.Arbitrary<Reader> = fc.record({
  person: fc.option(
    fc.record({ identityCode: fc.constantFrom('JG', 'XS', 'QT'), department: fc.constantFrom('3100', '4200', '') }),
    { nil: undefined },
  ),
  place: fc.record({ kind: fc.constantFrom<'private' | 'group'>('private', 'group'), id: fc.constant('x') }),
});

/** Reference implementation: Okapi BM25 over all documents. */
function naive(documents: readonly Document[], query: string): { name: string; score: number }[] {
  const terms = queryTerms(query, 64);
  const bags = documents.map(({ name, text }) => ({ name, terms: termsOf(`${name}\n\n${text}`) }));
  const average = bags.reduce((sum, bag) => sum + bag.terms.length, 0) / bags.length;
  const scores = bags.map(() => ({ score: 0, covered: 0 }));
  let whole = 0;
  for (const term of terms) {
    const counts = bags.map((bag) => bag.terms.filter((one) => one === term).length);
    const holding = counts.filter((count) => count > 0).length;
    const weight = Math.log(1 + (bags.length - holding + 0.5) / (holding + 0.5));
    whole += weight;
    for (const [at, count] of counts.entries()) {
      if (count === 0) continue;
      scores[at]!.score +=
        (weight * count) / (count + (1.2 * (1 - 0.75) + ((1.2 * 0.75) / average) * (bags[at]?.terms.length ?? 0)));
      scores[at]!.covered += weight;
    }
  }
  return bags
    .map(({ name }, at) => ({ name, score: scores[at]!.score / whole, covered: scores[at]!.covered }))
    .filter(({ covered }) => covered > 0 && covered >= 0.15 * whole)
    .sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1))
    .slice(0, 8)
    .map(({ name, score }) => ({ name, score }));
}

test('a search after any changes returns the hits of a full scan over the readable documents [knowledge-rights]', async () => {
  const change = fc.oneof(
    { weight: 4, arbitrary: documentOf.map((document) => ({ document })) },
    { weight: 1, arbitrary: fc.constantFrom(...'abcdefghij').map((removed) => ({ removed })) },
    { weight: 1, arbitrary: fc.constant({ settles: true }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 40 }),
      fc.array(fc.tuple(fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }), readerOf), {
        minLength: 3,
        maxLength: 3,
      }),
      async (changes, questions) => {
        const index = newIndex();
        const there = new Map<string, Document>();
        const pending = new Map<string, Document>();
        const settle = async () => {
          await index.settle();
          for (const [name, document] of pending) there.set(name, document);
          pending.clear();
        };
        for (const one of changes) {
          if ('document' in one) {
            const { name, text, readers } = one.document;
            if (pending.has(name)) await settle();
            await index.add({ source: 's', path: name, title: name, stamp: '', readers, parts: [{ text }] });
            pending.set(name, one.document);
          } else {
            await settle();
            if ('removed' in one) {
              index.remove('s', one.removed);
              there.delete(one.removed);
            }
          }
        }
        await settle();
        for (const [words, reader] of questions) {
          const readable = [...there.values()].filter(({ readers }) => mayRead(readers, reader));
          const isReadable = (entry: { readers?: Readers }) => mayRead(entry.readers ?? 'nobody', reader);
          const hits = index.search({ query: words.join(' '), isReadable, limit: 8 });
          expect(hits.map(({ entry, score }) => ({ name: entry.path, score }))).toEqual(
            naive(readable, words.join(' ')),
          );
          for (const { entry, text } of hits) expect(text).toBe(there.get(entry.path)?.text);
        }
      },
    ),
    { numRuns: tries(100) },
  );
});

/** A page that nests too deeply is left out of the index. */
function pageOf(html: string): { text: string } {
  try {
    return readSitePage(html);
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_heavy' });
    return { text: '' };
  }
}

describe('indexing a hostile text within the time limit', () => {
  const KIB = 1_024;
  const LENGTH = testTier() === 'long' ? 1_024 * KIB : 256 * KIB;
  test.each<[what: string, text: string]>([
    ['open tags', '<b>'.repeat(LENGTH / 3)],
    ['tags that never opened', '</i>'.repeat(LENGTH / 4)],
    ['both', '<b>'.repeat(LENGTH / 6) + '</i>'.repeat(LENGTH / 8)],
    ['comments that never end', '<!--'.repeat(LENGTH / 4)],
    ['attributes', `<a ${'hidden '.repeat(LENGTH / 7)}`],
    ['entities', '&amp'.repeat(LENGTH / 4)],
    ['quotes', `<a href="${"'".repeat(LENGTH)}`],
    ['hidden in hidden', '<nav>'.repeat(LENGTH / 5)],
    ['one word', 'x'.repeat(LENGTH)],
    ['blanks', ' '.repeat(LENGTH)],
    ['lines', '\n'.repeat(LENGTH)],
    ['blank lines', ' \n'.repeat(LENGTH / 2)],
    ['headings', '# \n'.repeat(LENGTH / 3)],
    ['marks on letters', 'a\u0301'.repeat(LENGTH / 3)],
    ['characters that expand', '\uFDFA'.repeat(LENGTH / 30)],
    ['half characters', '\ud800'.repeat(LENGTH / 2)],
  ])(
    '%s',
    async (_, text) => {
      const spentMs = measureProcessorTime();
      const page = pageOf(text);
      const index = newIndex();
      await index.add({ source: 's', path: 'p', title: 't', stamp: '', parts: [{ text: page.text }, { text }] });
      await index.settle();
      index.search({ query: text.slice(0, 1_000), isReadable: () => true, limit: 8 });
      expect(spentMs()).toBeLessThan(LENGTH / 50);
    },
    120_000,
  );
});

describe('tables of contents and alphabetical indexes', () => {
  const TOPICS = ['Opening hours', 'Borrowing books', 'Fines', 'Lockers', 'Printing', 'Group rooms', 'Archive', 'Wifi'];
  const TOPICS_ZH = ['开放时间', '借阅规则', '逾期罚款', '存包柜', '打印复印', '研讨室', '档案', '无线网'];
  const lines = (topics: string[], line: (topic: string, at: number) => string) => topics.map(line).join('\n');
  const PAGE_LISTS: [name: string, text: string][] = [
    ['contents with leaders', lines(TOPICS, (topic, at) => `${at + 1}. ${topic} ..... ${at * 4 + 3}`)],
    ['contents in a table', lines(TOPICS, (topic, at) => `| ${topic} | ${at * 4 + 3} |`)],
    ['Chinese contents', lines(TOPICS_ZH, (topic, at) => `第${at + 1}章 ${topic}……${at * 4 + 3}`)],
    ['an index', lines(TOPICS, (topic, at) => `${topic}, ${40 - at}, ${50 + at}–${52 + at}`)],
    ['a Chinese index', lines(TOPICS_ZH, (topic, at) => `${topic}　${40 - at}、${60 + at}`)],
  ];
  const DATA: [name: string, text: string][] = [
    ['a table of several numbers', lines(TOPICS, (topic, at) => `| ${topic} | ${at * 4} | ${at * 9} |`)],
    ['extensions by name', lines(TOPICS, (topic, at) => `${topic} ${4_512 - ((at * 7_919) % 3_000)}`)],
    ['prices', lines(TOPICS, (topic, at) => `${topic}: ${at}.50`)],
    ['prose', lines(TOPICS, (topic, at) => `${topic} are explained in room ${at + 10}, upstairs.`)],
  ];

  test.each([...PAGE_LISTS, ...DATA])('are told apart from data: %s', (name, text) => {
    expect(isPageList(text)).toBe(PAGE_LISTS.some(([other]) => other === name));
  });

  test.each([
    ['How does borrowing books work?', 'Borrowing books', 0],
    ['借阅规则是什么', '借阅规则', 2],
  ] as const)('rank below the page that answers “%s”', async (query, topic, list) => {
    const index = newIndex();
    const explained = `${topic}. ${'Students keep up to twenty of them for thirty days. '.repeat(12)}`;
    const parts = [PAGE_LISTS[list]![1], explained].map((text, at) => ({ label: `page ${at + 1}`, text }));
    await index.add({ source: 's', path: 'manual.pdf', title: 'Manual', stamp: '1', parts });
    await index.settle();
    const [hit] = index.search({ query, isReadable: () => true, limit: 1 });
    expect(hit?.place).toBe('page 2');
  });
});
