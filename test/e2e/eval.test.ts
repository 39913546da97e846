import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { runEvalCommand } from '../../src/cli/eval/eval-command.ts';
import { faultsOf } from '../../src/cli/eval/judge-answer.ts';
import type { Question } from '../../src/cli/eval/questions-file.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { compareRuns, type Result, type RunRecord } from '../../src/cli/eval/run-record.ts';
import {
  helloStream,
  startScriptedChatServer,
  type Answer,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';

// Twenty questions, each by a person who signs in.
jest.setTimeout(240_000);
const folder = mkdtempSync(join(tmpdir(), 'parley-eval-test-'));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
let chat: ScriptedChatServer;
beforeAll(async () => {
  chat = await startScriptedChatServer();
});
afterAll(async () => {
  await chat.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => void chat.calls.splice(0));

async function run(args: string[], env: Record<string, string> = {}) {
  const line = readCommandLine(['eval', ...args, '--per-minute', '600']);
  if (line.command !== 'eval') throw new Error('not understood');
  const { asked } = line;
  const [said, faults]: string[][] = [[], []];
  const code = await runEvalCommand({
    ...{ asked, cwd: process.cwd(), env: { DATA_DIR: join(folder, 'data'), ...env } },
    output: { write: (text) => said?.push(text) },
    asides: { write: (text) => faults?.push(text) },
  });
  const at = join(folder, 'data/eval');
  const kept: string[] = existsSync(at) ? readdirSync(at, 'utf8').sort() : [];
  return { code, said: said?.join('') ?? '', faults: faults?.join('') ?? '', kept };
}

const verdict =
  (word: string): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message: { content: `<think>no, yes</think>${word}.` } }] }));
    await Promise.resolve();
  };
const engine = () => ({ CHAT_BASE_URL: chat.baseUrl, CHAT_API_KEY: 'sk-test-0123456789' });

const OWN = `
- ask: Do you know who I am?
  as: zhangwei
  must: 张伟
  mustNot: [Emma]
- ask: count to 4
  as: XS 2203
  in: group
  must: 1 2 3 4
- { ask: hello, as: unlinked, must: sign in }
`;

test('eval asks each question as its person and place, and reports refusals by the policy as failures, also in the comparison', async () => {
  const questions = file('own.yaml', OWN);
  const sound = await run([questions]);
  expect([sound.code, sound.faults]).toEqual([0, '']);
  expect(sound.said).toContain('3 of 3 questions passed');
  const [page, record] = [
    sound.kept.find((name) => name.endsWith('.html')),
    sound.kept.find((name) => name.endsWith('.json')),
  ];
  expect(readFileSync(join(folder, 'data/eval', page ?? ''), 'utf8')).toContain('Do you know who I am?');
  // The files contain answers.
  const open = [page, record].map((name) => statSync(join(folder, 'data/eval', name ?? '')).mode & 0o077);
  expect(open).toEqual([0, 0]);

  const POLICY_FILE = file('policy.json', '{"rules":[],"otherwise":{"use":false}}');
  const broken = await run([questions, '--against', join(folder, 'data/eval', record ?? '')], { POLICY_FILE });
  expect(broken.code).toBe(1);
  expect(broken.said).toMatch(/FAIL +1[\s\S]*lacks “张伟”/);
  expect(broken.said).toContain('0 better, 2 worse, 1 the same, 0 new');
});

test('eval uses the configured engine, and its judge only for questions that request it', async () => {
  const questions = file(
    'judged.yaml',
    '- { ask: one, must: first }\n- { ask: two, judge: It is polite }\n- { ask: three, judge: It is short }',
  );
  chat.script(
    helloStream('the first answer'),
    helloStream('second'),
    verdict('Yes'),
    helloStream('third'),
    verdict('No'),
  );
  const { code, said } = await run([questions], engine());
  expect(code).toBe(1);
  expect(said).toMatch(/ok +1[\s\S]*ok +2[\s\S]*FAIL +3[\s\S]*the judge answered no: It is short/);
  expect(JSON.stringify(chat.calls[2]?.body)).toContain('It is polite');
  expect(chat.calls).toHaveLength(5);
  // Each question begins a conversation.
  expect(JSON.stringify(chat.calls[1]?.body)).not.toContain('the first answer');
});

test('Ctrl+C ends eval with exit code 1 and keeps the finished results', async () => {
  const questions = file('many.yaml', '- { ask: one, must: first }\n- { ask: two }\n- { ask: three }');
  chat.script(helloStream('the first answer'));
  const DATA_DIR = join(folder, 'interrupted');
  // The second question waits for half a minute.
  const parley = await startParleyProcess({
    env: { ...engine(), DATA_DIR, ENV_FILE: '/dev/null' },
    command: ['node', 'dist/main.js', 'eval', questions, '--per-minute', '2'],
  });
  await untilTrue(() => /ok +1/.test(parley.output()), 60_000);
  parley.kill('SIGINT');
  expect(await parley.ended).toBe(1);
  expect(parley.output()).toContain('Interrupted after 1 of 3 questions');
  const [record = ''] = readdirSync(join(DATA_DIR, 'eval')).filter((name) => name.endsWith('.json'));
  const { results } = JSON.parse(readFileSync(join(DATA_DIR, 'eval', record), 'utf8')) as RunRecord;
  expect(results).toMatchObject([{ ask: 'one', holds: true, text: 'the first answer' }]);
});

test('a judge that is unavailable, or answers neither yes nor no, passes no question', async () => {
  const away: Answer = (response) => void response.writeHead(500).end();
  const questions = file('unjudged.yaml', '- { ask: one, judge: It is kind }\n- { ask: two, judge: It is kind }');
  chat.script(helloStream('first'), away, helloStream('second'), verdict('Perhaps'));
  const { code, said } = await run([questions], engine());
  expect(code).toBe(1);
  expect(said).toMatch(
    /FAIL +1[\s\S]*the judge did not answer[\s\S]*FAIL +2[\s\S]*the judge answered neither yes nor no/,
  );
});

test.each([
  ['- ask: x\n  as: nobody-of-it', /The directory has no person for nobody-of-it/],
  ['- ask: x\n  must: [', /is not valid YAML/],
  ['- as: zhangwei', /ask/],
  ['[]', /contains no questions/],
  ['- { ask: x, in: channel }', /Must be private, group/],
  ['- { ask: x, muss: y }', /muss/],
])('%j is reported as a fault with the file name', async (text, complaint) => {
  const { code, faults } = await run([file('bad.yaml', text)]);
  expect(code).toBe(2);
  expect(faults).toMatch(complaint);
});

test('the shipped questions pass with the built-in model, whatever other documents are configured', async () => {
  const { code, said } = await run([], { KNOWLEDGE_FILE: file('knowledge.json', '{"sources":[]}') });
  expect(said).toContain('questions passed');
  expect(said).not.toContain('FAIL');
  expect(code).toBe(0);
});

describe('the exact checks', () => {
  const question: Question = { ask: 'x', must: ['Room 12'], mustNot: ['secret'], source: ['Handbook'] };

  test.each([
    [{ text: 'It is room  12.', beside: 'Sources: handbook' }, []],
    [{ text: 'It is room 12.', beside: '', sources: 'Handbook' }, []],
    [
      { text: 'Room 13', beside: 'SECRET' },
      ['lacks “Room 12”', 'says “secret”', 'does not cite the source “Handbook”'],
    ],
    [{ text: 'Room 12, says the Handbook', beside: '' }, ['does not cite the source “Handbook”']],
    [{ text: 'Here it is.', beside: 'Room 12, Handbook' }, ['lacks “Room 12”']],
    [{ text: 'Room 12', beside: 'Handbook', sources: 'The secret handbook' }, ['says “secret”']],
  ])('find the faults of %j', (answer, faults) => {
    expect(faultsOf(question, answer)).toEqual(faults);
  });

  test('find no fault in an answer that contains every required text', () => {
    const words = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.array(words), fc.string(), (must, around) => {
        const text = `${around} ${must.join(` ${around} `)} ${around}`;
        expect(faultsOf({ ...question, must, mustNot: [], source: [] }, { text, beside: '' })).toEqual([]);
      }),
    );
  });
});

test('compareRuns matches the questions of two runs by text, person and place', () => {
  const result = (ask: string, holds: boolean, as = 'a'): Result => ({
    ...{ ask, as, in: 'private', holds, faults: [], text: '', beside: '', tookMs: 1 },
  });
  const before: RunRecord = {
    ...{ version: 1, at: 'then', questions: 'q', model: 'm' },
    results: [result('x', true), result('y', false), result('z', true)],
  };
  const now = [result('x', false), result('y', true), result('z', true), result('z', true, 'b')];
  expect(compareRuns(now, before)).toEqual(['worse', 'better', 'same', 'new']);
});
