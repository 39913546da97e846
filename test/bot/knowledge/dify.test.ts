import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KnowledgeFixture, STAFF, STAFF_IN_GROUP, STRANGER, STUDENT } from './knowledge-fixture.ts';

let server: Server;
let address: string;
let fixture: KnowledgeFixture;
const asked: { path: string; headers: IncomingMessage['headers']; body: string }[] = [];
let answer: (response: ServerResponse) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      asked.push({ path: String(request.url), headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/retrieval?v=1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  fixture = new KnowledgeFixture();
  asked.splice(0);
});
afterEach(() => fixture.end());

const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const records =
  (...list: unknown[]) =>
  (response: ServerResponse) =>
    json({ records: list })(response);
const rag = (more: object = {}) => ({ name: 'rag', dify: address, knowledgeId: 'kb-1', readers: 'public', ...more });

test('a Dify source is queried as specified, at the exact address, with the key of the file', async () => {
  fixture.write('key', 'sesame-key\n');
  answer = records({
    content: 'The otter sleeps at noon.',
    score: 0.9,
    title: 'Otters',
    metadata: { url: 'https://docs.example.edu/otters', date: '2026-01-02T10:00:00Z' },
  });
  const condition = {
    logical_operator: 'and',
    conditions: [{ name: 'kind', comparison_operator: 'is', value: 'rule' }],
  };
  fixture.use(rag({ keyFile: 'key', condition }));
  expect(await fixture.find('when do otters sleep?')).toEqual([
    {
      documentId: expect.stringMatching(/^[0-9a-f]{16}$/),
      source: 'rag',
      title: 'Otters',
      text: 'The otter sleeps at noon.',
      url: 'https://docs.example.edu/otters',
      date: '2026-01-02',
      score: 0.9,
    },
  ]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ path: '/api/retrieval?v=1', headers: { authorization: 'Bearer sesame-key' } });
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    knowledge_id: 'kb-1',
    query: 'when do otters sleep?',
    retrieval_setting: { top_k: 20, score_threshold: 0 },
    metadata_condition: condition,
  });
});

test('a Dify record with missing or malformed fields is used without them', async () => {
  answer = records(
    { content: 'Bare' },
    { content: 'Odd', score: 'high', title: 5, metadata: null },
    { content: ' ', score: 1 },
    { score: 1 },
    null,
    'text',
    {
      content: 'Linked',
      score: 7,
      title: ' ',
      metadata: { url: 'javascript:alert(1)', document_name: 'a.pdf', date: 'soon' },
    },
  );
  fixture.use(rag());
  const found = await fixture.find('anything');
  expect(found.map(({ text, title, url, date, score }) => ({ text, title, url, date, score }))).toEqual([
    { text: 'Linked', title: 'a.pdf', url: undefined, date: undefined, score: 1 },
    { text: 'Bare', title: 'rag', url: undefined, date: undefined, score: 0 },
    { text: 'Odd', title: 'rag', url: undefined, date: undefined, score: 0 },
  ]);
});

describe('rights to Dify records [knowledge-rights]', () => {
  test('a source is not queried for people who may not read it', async () => {
    answer = records({ content: 'Secret' });
    fixture.use(rag({ readers: { identity: ['JG'] } }));
    for (const reader of [STUDENT, STRANGER, STAFF_IN_GROUP])
      expect(await fixture.find('anything', reader)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await fixture.find('anything', STAFF)).toHaveLength(1);
    fixture.use(rag({ readers: undefined }));
    expect(await fixture.find('anything', STAFF)).toEqual([]);
  });

  test('the readers of a record narrow those of the source, and never widen them', async () => {
    answer = records(
      { content: 'plain', score: 0.9 },
      { content: 'open', score: 0.8, metadata: { readers: 'public' } },
      { content: 'staff', score: 0.7, metadata: { readers: { identity: ['JG'] } } },
      { content: 'as text', score: 0.6, metadata: { readers: '{"identity":["JG"]}' } },
      { content: 'slip', score: 0.5, metadata: { readers: 'everybody' } },
      { content: 'empty', score: 0.4, metadata: { readers: null } },
    );
    const texts = async (reader: typeof STAFF) => (await fixture.find('anything', reader)).map(({ text }) => text);
    fixture.use(rag());
    expect(await texts(STAFF)).toEqual(['plain', 'open', 'staff', 'as text']);
    for (const reader of [STUDENT, STRANGER, STAFF_IN_GROUP]) expect(await texts(reader)).toEqual(['plain', 'open']);
    fixture.use(rag({ readers: { identity: ['JG'] } }));
    for (const reader of [STUDENT, STAFF_IN_GROUP]) expect(await texts(reader)).toEqual([]);
  });

  test('unreadable records do not displace readable ones', async () => {
    const closed = Array.from({ length: 12 }, () => ({
      content: 'x',
      score: 1,
      metadata: { readers: { identity: ['XS'] } },
    }));
    answer = records(...closed, { content: 'mine', score: 0.1 });
    fixture.use(rag());
    expect((await fixture.find('anything')).map(({ text }) => text)).toEqual(['mine']);
  });
});

describe('a failing Dify source leaves the other sources searchable and is counted', () => {
  test.each<[what: string, fails: (response: ServerResponse) => void, fault: string]>([
    ['a wrong key', json({ error_code: 1002, error_msg: 'no' }, 403), 'refused'],
    ['a wrong key, answered with status 200', json({ error_code: 1001, error_msg: 'no' }), 'refused'],
    ['no such knowledge', json({ error_code: 2001, error_msg: 'no' }, 404), 'failed'],
    ['an error', json({}, 500), 'failed'],
    ['a redirect', (response) => void response.writeHead(302, { location: '/elsewhere' }).end(), 'failed'],
    ['no JSON', (response) => void response.end('<html>'), 'failed'],
    ['no records', json({ result: [] }), 'failed'],
    [
      'too much',
      (response) => void response.end(`{"records":[{"content":"x"}]}${' '.repeat(3 * 1_024 * 1_024)}`),
      'failed',
    ],
    ['a cut connection', (response) => void response.destroy(), 'away'],
    ['silence', () => undefined, 'late'],
  ])('%s', async (_, fails, fault) => {
    answer = fails;
    fixture.write('docs/a.md', '# A\notter');
    fixture.use(rag(), { name: 'docs', folder: 'docs', readers: 'public' });
    await fixture.until(async () => (await fixture.titles('otter', STAFF, ['docs'])).length === 1);
    expect(await fixture.titles('otter')).toEqual(['A']);
    expect(fixture.told.sourceFailed).toEqual([{ source: 'rag', fault }]);
    expect(asked.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  test('a key file that cannot be read', async () => {
    fixture.use(rag({ keyFile: 'nowhere' }));
    expect(await fixture.find('anything')).toEqual([]);
    expect(fixture.told.sourceFailed).toEqual([{ source: 'rag', fault: 'refused' }]);
    expect(asked).toEqual([]);
  });
});

test('results alternate between sources, each with its best first', async () => {
  answer = records({ content: 'one', score: 0.2, title: 'R1' }, { content: 'two', score: 0.1, title: 'R2' });
  for (const name of ['a', 'b', 'c']) fixture.write(`docs/${name}.md`, `# ${name}\notter`);
  fixture.use(rag(), { name: 'docs', folder: 'docs', readers: 'public' });
  await fixture.until(async () => (await fixture.titles('otter', STAFF, ['docs'])).length === 3);
  expect(await fixture.titles('otter')).toEqual(['a', 'R1', 'b', 'R2', 'c']);
});
