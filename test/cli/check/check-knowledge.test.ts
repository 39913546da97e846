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

/** Findings of the check for these sources and scenes. */
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

describe('the check of a folder', () => {
  test('reports an existing folder with its number of readable documents', async () => {
    const others = { 'documents/rules/logo.svg': '<svg/>', 'documents/rules/.hidden.md': 'no' };
    const { folder, lines } = await found([rules], { ...DOCUMENTS, ...others });
    const place = join(folder, 'documents/rules');
    expect(lines).toEqual([
      { name: 'Knowledge', verdict: 'ok', detail: `Rules: 3 documents in ${place}; 1 file is skipped` },
    ]);
  });

  test('reports a folder that is missing or a file as a fault with the next step', async () => {
    const { folder, lines } = await found([rules, { ...rules, name: 'Other', folder: 'scenes.json' }]);
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: `Rules: the folder ${join(folder, 'documents/rules')} does not exist` },
      { verdict: 'fault', detail: `Other: the folder ${join(folder, 'config/scenes.json')} does not exist` },
    ]);
    expect(lines[0]?.nextStep).toContain('mount it');
  });

  test('warns about a folder without any known file type', async () => {
    const { lines } = await found([rules], { 'documents/rules/logo.svg': '<svg/>' });
    expect(lines).toMatchObject([
      { verdict: 'warning', detail: expect.stringContaining('0 documents'), nextStep: expect.any(String) },
    ]);
  });

  test('warns about a folder without readers: only documents with their own readers are found', async () => {
    const { lines } = await found([{ ...rules, readers: undefined }], DOCUMENTS);
    expect(lines).toMatchObject([
      {
        verdict: 'warning',
        detail: expect.stringContaining('3 documents'),
        nextStep: expect.stringContaining('set "readers" in KNOWLEDGE_FILE'),
      },
    ]);
  });

  test("reports a folder that the system cannot read as a fault with the system's error", async () => {
    const folder = folderWith({
      'config/knowledge.json': JSON.stringify({ sources: [rules] }),
      'documents/a.md': '# A',
    });
    symlinkSync('rules', join(folder, 'documents/rules'));
    expect(await checkKnowledge(loadSound(SERVING, folder).config)).toMatchObject([
      { verdict: 'fault', detail: expect.stringContaining('cannot be read (ELOOP)'), nextStep: expect.any(String) },
    ]);
  });

  // A user who may read everything, such as root, has no unreadable files.
  (process.getuid?.() === 0 ? test.skip : test)(
    'reports an unreadable folder, or an unreadable file in it, as a fault',
    async () => {
      const folder = folderWith({ ...DOCUMENTS, 'config/knowledge.json': JSON.stringify({ sources: [rules] }) });
      const check = () => checkKnowledge(loadSound(SERVING, folder).config);
      chmodSync(join(folder, 'documents/rules/a.md'), 0);
      expect(await check()).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('such as a.md') }]);
      chmodSync(join(folder, 'documents/rules'), 0);
      expect(await check()).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('EACCES') }]);
      chmodSync(join(folder, 'documents/rules'), 0o755);
    },
  );
});

describe('the check of a retrieval service', () => {
  test('accepts a service that works with the key of the file', async () => {
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
    ['refuses the key', 403, /refuses the key in .*\/config\/key$/, /write the key/],
    ['reports an error in its own format', [200, { error_code: 1002 }], /refuses the key/, /write the key/],
    ['has no such knowledge base', [200, { error_code: 2001 }], /has no knowledge base kb-1/, /correct knowledgeId/],
    ['is another kind of service', [200, '<html>'], /answers with status 200 and no records/, /the complete address/],
    ['has nothing at the address', 404, /answers with status 404/, /the complete address/],
  ])('reports a service that %s as a fault with the next step', async (_name, answer, detail, nextStep) => {
    const { url } = await serve({ '/retrieval': answer });
    const { lines } = await found([{ ...library, dify: `${url}/retrieval`, keyFile: 'key' }], {
      'config/key': 'sesame',
    });
    expect(lines).toMatchObject([
      { verdict: 'fault', detail: expect.stringMatching(detail), nextStep: expect.stringMatching(nextStep) },
    ]);
    expect(JSON.stringify(lines)).not.toContain('sesame');
  });

  test('distinguishes a service that is missing from a key that cannot be read', async () => {
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

  test('reports a service that never answers as a fault in time', async () => {
    const server = await listen(() => undefined, 0, '127.0.0.1');
    servers.push(server);
    const { lines } = await found([{ ...library, dify: `${server.url}/retrieval` }]);
    // On a busy machine, the limit of the whole check may come first.
    const inTime = /does not answer within 5 seconds|no result in time/;
    expect(lines).toMatchObject([{ verdict: 'fault', detail: expect.stringMatching(inTime) }]);
  });

  test('warns about a service without readers', async () => {
    const { url } = await serve({ '/retrieval': [200, { records: [] }] });
    const { lines } = await found([{ ...library, readers: undefined, dify: `${url}/retrieval` }]);
    expect(lines).toMatchObject([{ verdict: 'warning', detail: expect.stringContaining('it has no readers') }]);
  });
});

describe('the check of scenes', () => {
  test('reports scenes that name an unknown source as a fault', async () => {
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

  test('includes scenes without any source', async () => {
    const { lines } = await found([], {}, [{ name: 'Desk', knowledge: ['Rules'] }]);
    expect(lines).toMatchObject([{ verdict: 'fault', detail: expect.stringContaining('the scene Desk') }]);
  });
});

test('the check reports nothing without sources, and nothing here about invalid files', async () => {
  expect((await found([])).lines).toEqual([]);
  expect((await found([{ name: 'Rules' }], {}, [{ name: 'Desk', knowledge: ['Other'] }])).lines).toEqual([]);
});
