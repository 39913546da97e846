import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  chunk,
  helloStream,
  startScriptedChatServer,
  streamOf,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { untilTrue } from '../support/deployment.ts';
import { judgeImports } from '../house/judge-imports.ts';
import { cutFences, readPage } from '../house/pages.ts';

const PAGES = [
  'docs/extending/ADD_A_TOOL.md',
  'docs/extending/ADD_A_PLATFORM.md',
  'docs/extending/ADD_A_COMMAND.md',
  'docs/extending/ADD_A_SETTING.md',
  'docs/extending/ADD_A_DOCUMENT_TYPE.md',
  'docs/extending/ADD_A_SIGN_IN_PROVIDER.md',
];
const SECRET = 'pigeon-secret-0123456789';
const run = promisify(execFile);

interface Post {
  chat: string;
  key: string;
  text: string;
}

let root: string;
let redis: EmbeddedRedis;
let chat: ScriptedChatServer;
let pigeon: Server;
const posts: Post[] = [];
const toEnd: ParleyProcess[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'parley-added-'));
  for (const path of ['src', 'defaults', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(path, join(root, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  redis = await startEmbeddedRedis();
  chat = await startScriptedChatServer();
  pigeon = createServer((request, response) => {
    void json(request).then((body) => {
      posts.push(body as Post);
      response.end();
    });
  });
  await new Promise<void>((done) => pigeon.listen(0, '127.0.0.1', done));
}, 60_000);

afterAll(async () => {
  for (const one of toEnd) one.kill('SIGKILL');
  await Promise.all(toEnd.map(({ ended }) => ended));
  pigeon.close();
  await chat.stop();
  await redis.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Follows a guide: copies the files that it links to and applies the edits that it shows. @returns the paths */
function follow(page: string): { written: string[]; edited: string[] } {
  const written: string[] = [];
  const edited: string[] = [];
  let named = '';
  const { fences } = cutFences(readPage(page));
  const blocks = fences.values();
  for (const line of readPage(page).split('\n')) {
    const [, from = '', to] = /\]\(([\w./-]+\.ts)\) to `(src\/[\w./-]+\.ts)`/.exec(line) ?? [];
    if (to !== undefined) {
      cpSync(join(dirname(page), from), join(root, to));
      written.push(to);
    }
    const found = /`(src\/[\w./-]+\.ts)`:$/.exec(line);
    if (found?.[1]) named = found[1];
    if (!/^```\w/.test(line)) continue;
    const { language, lines } = blocks.next().value ?? { language: '', lines: [] };
    if (language === 'diff') {
      edit(join(root, named), lines);
      edited.push(named);
    }
  }
  return { written, edited };
}

/** Makes the edit of a diff: its added lines follow the first line, or take its place if that line is removed. */
function edit(path: string, [first = '', ...added]: string[]): void {
  const source = readFileSync(path, 'utf8').split('\n');
  expect({ path, lines: source.filter((line) => line === first.slice(1)) }).toEqual({ path, lines: [first.slice(1)] });
  expect(added.length > 0 && added.every((line) => line.startsWith('+'))).toBe(true);
  const isRemoved = first.startsWith('-');
  const at = source.indexOf(first.slice(1));
  source.splice(isRemoved ? at : at + 1, isRemoved ? 1 : 0, ...added.map((line) => line.slice(1)));
  writeFileSync(path, source.join('\n'));
}

/** Compiles the files that the guide changed into a copy of the build, and checks their types. */
async function build(touched: string[]): Promise<void> {
  const packages = resolve('dist-modules/node_modules');
  cpSync('dist-modules', join(root, 'dist-modules'), { recursive: true, filter: (path) => resolve(path) !== packages });
  const compiler = resolve('test/support/build-checking.mjs');
  await run(process.execPath, [compiler, 'tsconfig.build.json', ...touched], { cwd: root });
  symlinkSync(packages, join(root, 'dist-modules/node_modules'));
}

function say(port: number, text: string, secret = SECRET): Promise<Response> {
  const body = JSON.stringify({ id: randomBytes(8).toString('hex'), chat: 'c1', from: 'u1', text });
  const time = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  const headers = { 'x-pigeon-time': time, 'x-pigeon-signature': signature };
  return fetch(`http://127.0.0.1:${port}/webhooks/pigeon`, { method: 'POST', headers, body });
}

/** Reads a file of the added document type. */
const READ_CALENDAR = `
  const { parseDocument } = await import('./dist-modules/bot/knowledge/documents/read-here.js');
  const lines = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'SUMMARY:Open day', 'DTSTART;VALUE=DATE:20260105', 'END:VEVENT'];
  const { parts } = await parseDocument(Buffer.from(lines.join('\\r\\n')), { name: 'days.txt' });
  console.log(JSON.stringify(parts));`;

/** Asks the added sign-in provider where a browser goes. */
const LEAVE_FOR_CAMPUS = `
  const { createSignInProvider } = await import('./dist-modules/bot/identity/providers/create-provider.js');
  const service = { type: 'campus', authUrl: 'https://portal.example', clientId: 'parley', clientSecret: 's' };
  const dialect = createSignInProvider(service, { clientId: 'parley' });
  const leaving = { redirectUri: 'https://parley.example/oauth/callback', state: 's1' };
  console.log(JSON.stringify((await dialect.startAuthorization(leaving)).location));`;

/** Runs a program in the compiled copy. @returns the JSON that it prints */
async function inCopy(program: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  return JSON.parse(stdout) as unknown;
}

test('following the ADD_A pages word for word gives a working tool, platform, command, setting, document type and sign-in provider', async () => {
  const followed = PAGES.map(follow);
  const written = followed.flatMap((page) => page.written);
  expect(written).toEqual([
    'src/bot/tools/opening-hours.ts',
    'src/bot/platforms/pigeon/description.ts',
    'src/bot/platforms/pigeon/module.ts',
    'src/bot/turn/commands/show-version.ts',
    'src/bot/knowledge/documents/kinds/calendar.ts',
    'src/bot/identity/providers/campus-provider.ts',
    'src/cli/check/check-campus.ts',
  ]);
  expect(judgeImports(join(root, 'src'))).toEqual([]);
  await build([...new Set([...written, ...followed.flatMap((page) => page.edited)])]);
  const tools = cutFences(readPage('docs/extending/ADD_A_TOOL.md')).fences.find(({ language }) => language === 'json');
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config/tools.json'), `{ "tools": ${(tools?.lines ?? []).join('\n')} }`);

  const asked = { id: 'a', type: 'function', function: { name: 'opening_hours', arguments: '{"place":"gym"}' } };
  chat.script(
    streamOf(chunk({ tool_calls: [{ index: 0, ...asked }] }, 'tool_calls')),
    helloStream('The gym opens at six. @all'),
  );
  const port = await freePort();
  const bot = await startParleyProcess({
    command: ['node', 'dist-modules/main.js'],
    cwd: root,
    env: {
      PORT: String(port),
      HOST: '127.0.0.1',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      REDIS_URL: redis.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      CHAT_BASE_URL: chat.baseUrl,
      CHAT_API_KEY: 'sk-added-0123456789',
      CHAT_PROMPT_NOTE: 'Answer in British English.',
      SIGN_IN: 'off',
      PIGEON_SECRET: SECRET,
      PIGEON_API_URL: `http://127.0.0.1:${(pigeon.address() as AddressInfo).port}`,
      LOG_FORMAT: 'json',
    },
    until: /is running|has started/,
  });
  toEnd.push(bot);

  expect((await say(port, 'When?', `${SECRET}-of-others`)).status).toBe(401);
  expect((await fetch(`http://127.0.0.1:${port}/webhooks/slack`, { method: 'POST' })).status).toBe(404);
  expect((await say(port, 'When does the gym open?')).status).toBe(200);
  await untilTrue(() => posts.at(-1)?.text.startsWith('The gym opens at six.') === true, 20_000);
  expect(posts.at(-1)).toMatchObject({ chat: 'c1', text: expect.not.stringContaining('@all') });
  expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
  const sent = chat.calls.map(({ body }) => body as { tools?: { function: { name: string } }[]; messages: object[] });
  expect(sent[0]?.tools?.map((tool) => tool.function.name)).toEqual(['opening_hours']);
  expect(sent[1]?.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining('gym: 06:00 to 21:00'),
  });
  expect(sent[0]?.messages[0]).toMatchObject({ content: expect.stringContaining('Answer in British English.') });

  expect((await say(port, '/version')).status).toBe(200);
  await untilTrue(() => posts.at(-1)?.text.startsWith('This is Parley ') === true, 20_000);

  expect(await inCopy(READ_CALENDAR)).toEqual([{ label: 'event 1', text: 'Event: Open day\nStart: 20260105' }]);
  expect(await inCopy(LEAVE_FOR_CAMPUS)).toBe(
    'https://portal.example/login?app=parley&service=https%3A%2F%2Fparley.example%2Foauth%2Fcallback&state=s1',
  );
}, 300_000);
