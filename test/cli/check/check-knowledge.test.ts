import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ListeningServer } from '../../../src/shared/http/http-server.ts';
import { listen } from '../../../src/shared/http/http-server.ts';
import { checkKnowledge } from '../../../src/cli/check/check-knowledge.ts';
import { folderWith, loadSound, SERVING } from '../../bot/config/environments.ts';
import { answering, type Answers } from './support.ts';

const servers: ListeningServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type Files = Record<string, string>;

/** What the check says of these sources and scenes. */
async function found(sources: readonly object[], files: Files = {}, scenes: readonly object[] = []) {
  const written = {
    'config/knowledge.json': JSON.stringify({ sources }),
    'config/scenes.json': JSON.stringify(scenes),
  };
  const folder = folderWith({ ...written, ...files });
  return { folder, lines: await checkKnowledge(loadSound(SERVING, folder).config) };
}

async function serve(answers: Answers) {
  const server = await answering(answers);
  servers.push(server);
  return server;
}

const DOCUMENTS = {
  'documents/rules/a.md': '# A',
  'documents/rules/deep/b.pdf': '%PDF',
  'documents/rules/c.docx': 'PK',
};
const rules = { name: 'Rules', folder: '../documents/rules', readers: 'public' };
const library = { name: 'Library', knowledgeId: 'kb-1', readers: {} };

describe('a folder', () => {
  test('that is there is told with how many documents of known kinds it has', async () => {
    const others = { 'documents/rules/logo.svg': '<svg/>', 'documents/rules/.hidden.md': 'no' };
    const { folder, lines } = await found([rules], { ...DOCUMENTS, ...others });
    const place = join(folder, 'documents/rules');
    expect(lines).toEqual([
      { name: 'Knowledge', verdict: 'ok', detail: `Rules: 3 documents in ${place}, beside 1 file that is left out` },
    ]);
  });

  test('that is not there, or is a file, is a fault with what to do', async () => {
    const { folder, lines } = await found([rules, { ...rules, name: 'Other', folder: 'scenes.json' }]);
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: `Rules: there is no folder ${join(folder, 'documents/rules')}` },
      { verdict: 'fault', detail: `Other: there is no folder ${join(folder, 'config/scenes.json')}` },
    ]);
    expect(lines[0]?.nextStep).toContain('mount it');
  });

  test('with nothing of a known kind is a warning', async () => {
    const { lines } = await found([rules], { 'documents/rules/logo.svg': '<svg/>' });
    expect(lines).toMatchObject([
      { verdict: 'warning', detail: expect.stringContaining('0 documents'), nextStep: expect.any(String) },
    ]);
  });

  test('without readers is a warning: only what names its own is found', async () => {
    const { lines } = await found([{ ...rules, readers: undefined }], DOCUMENTS);
    expect(lines).toMatchObject([
      {
        verdict: 'warning',
        detail: expect.stringContaining('3 documents'),
        nextStep: expect.stringContaining('who may read it'),
      },
    ]);
  });

  test('that the system cannot read is a fault with the system’s word for it', async () => {
    const folder = folderWith({
      'config/knowledge.json': JSON.stringify({ sources: [rules] }),
      'documents/a.md': '# A',
    });
    symlinkSync('rules', join(folder, 'documents/rules'));
    expect(await checkKnowledge(loadSound(SERVING, folder).config)).toMatchObject([
      { verdict: 'fault', detail: expect.stringContaining('cannot be read (ELOOP)'), nextStep: expect.any(String) },
    ]);
  });

  // Whoever may read everything meets no closed file.
  (process.getuid?.() === 0 ? test.skip : test)('that may not be read, or a file in it, is a fault', async () => {
    const folder = folderWith({ ...DOCUMENTS, 'config/knowledge.json': JSON.stringify({ sources: [rules] }) });
    const check = () => checkKnowledge(loadSound(SERVING, folder).config);
    chmodSync(join(folder, 'documents/rules/a.md'), 0);
    expect(await check()).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('such as a.md') }]);
    chmodSync(join(folder, 'documents/rules'), 0);
    expect(await check()).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('EACCES') }]);
    chmodSync(join(folder, 'documents/rules'), 0o755);
  });
});

describe('a retrieval service', () => {
  test('that answers with the key of the file is well', async () => {
    const { url, seen } = await serve({ '/retrieval': [200, { records: [] }] });
    const { lines } = await found([{ ...library, dify: `${url}/retrieval?token=secret`, keyFile: 'key' }], {
      'config/key': 'sesame\n',
    });
    expect(lines).toEqual([
      { name: 'Knowledge', verdict: 'ok', detail: `Library: ${url}/retrieval answers with the key, for kb-1` },
    ]);
    expect(seen).toMatchObject([{ authorization: 'Bearer sesame', url: '/retrieval?token=secret' }]);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ knowledge_id: 'kb-1' });
  });

  test.each<[string, Answers[string], RegExp, RegExp]>([
    ['takes no such key', 403, /does not take the key of .*\/config\/key$/, /put the key/],
    ['says so in its own way', [200, { error_code: 1002 }], /does not take the key/, /put the key/],
    ['has no such knowledge base', [200, { error_code: 2001 }], /has no knowledge base kb-1/, /correct knowledgeId/],
    ['is something else', [200, '<html>'], /answers with status 200 and no records/, /the whole address/],
    ['has nothing there', 404, /answers with status 404/, /the whole address/],
  ])('that %s is a fault with what to do', async (_name, answer, detail, nextStep) => {
    const { url } = await serve({ '/retrieval': answer });
    const { lines } = await found([{ ...library, dify: `${url}/retrieval`, keyFile: 'key' }], {
      'config/key': 'sesame',
    });
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: expect.stringMatching(detail), nextStep: expect.stringMatching(nextStep) },
    ]);
    expect(JSON.stringify(lines)).not.toContain('sesame');
  });

  test('that is not there, and whose key cannot be read, are told apart', async () => {
    const { url, close } = await answering({});
    await close();
    const { lines } = await found([
      { ...library, dify: `${url}/retrieval` },
      { ...library, name: 'Other', dify: `${url}/retrieval`, keyFile: 'no-key' },
    ]);
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: expect.stringMatching(/^Library: .* cannot be reached \(ECONNREFUSED\)$/) },
      { verdict: 'fault', detail: expect.stringMatching(/^Other: its key file .*no-key cannot be read \(ENOENT\)$/) },
    ]);
  });

  test('that never answers is a fault in time', async () => {
    const server = await listen(() => undefined, 0, '127.0.0.1');
    servers.push(server);
    const { lines } = await found([{ ...library, dify: `${server.url}/retrieval` }]);
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: expect.stringContaining('gives no answer within 5 seconds') },
    ]);
  }, 20_000);

  test('without readers is a warning', async () => {
    const { url } = await serve({ '/retrieval': [200, { records: [] }] });
    const { lines } = await found([{ ...library, readers: undefined, dify: `${url}/retrieval` }]);
    expect(lines).toMatchObject([{ verdict: 'warning', detail: expect.stringContaining('it has no readers') }]);
  });
});

describe('scenes', () => {
  test('that name a source which nobody described are a fault', async () => {
    const scenes = [
      { name: 'Desk', groups: ['g1'], knowledge: ['Rules'] },
      { name: 'Library', groups: ['g2'], knowledge: ['Rules', 'Catalogue', 'Opening times'] },
      { name: 'None', knowledge: [] },
    ];
    const { lines } = await found([rules], DOCUMENTS, scenes);
    expect(lines.slice(1)).toMatchObject([
      {
        name: 'Knowledge',
        verdict: 'fault',
        detail: expect.stringMatching(/^the scene Library \(.*scenes.json\) names Catalogue, Opening times, /),
        nextStep: expect.stringContaining('it knows Rules'),
      },
    ]);
  });

  test('are tried without any source too', async () => {
    const { lines } = await found([], {}, [{ name: 'Desk', knowledge: ['Rules'] }]);
    expect(lines).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('the scene Desk') }]);
  });
});

test('nothing is said where there is nothing, and nothing here of files with faults', async () => {
  expect((await found([])).lines).toEqual([]);
  expect((await found([{ name: 'Rules' }], {}, [{ name: 'Desk', knowledge: ['Other'] }])).lines).toEqual([]);
});
