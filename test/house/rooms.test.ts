import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { mutatedSource } from '../support/mutated-source.ts';
import { findImports } from './find-imports.ts';
import { judgeImports } from './judge-imports.ts';
import { ROOM_RULES } from './room-rules.ts';

test('no room imports what its row does not allow', () => {
  expect(judgeImports('src')).toEqual([]);
});

test('the rows know no room that is not one', () => {
  const rooms = Object.keys(ROOM_RULES);
  for (const allowed of Object.values(ROOM_RULES)) expect(allowed.filter((room) => !rooms.includes(room))).toEqual([]);
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !rooms.includes(name))).toEqual([]);
});

test('what the settings know of platforms is plain data: none of their code comes with it', () => {
  const files = ['platforms/registry.ts', 'platforms/description.ts', ...readDescriptions()];
  const reached = files.flatMap((path) =>
    findImports(path, mutatedSource(resolve('src', path), readFileSync(join('src', path), 'utf8')))
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ specifier }) => specifier),
  );
  // A module is brought only when its platform is built.
  const allowed = /^(\.\.\/\.\.\/settings\/setting(-kinds)?\.ts|\.\/\w+\/description\.ts|\.\/module\.ts)$/;
  expect(reached.filter((specifier) => specifier === undefined || !allowed.test(specifier))).toEqual([]);
});

function readDescriptions(): string[] {
  const folders = readdirSync('src/bot/platforms', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => `platforms/${name}/description.ts`);
}

describe('a planted breach is caught', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-rooms-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  function judgeFile(path: string, source: string): string[] {
    const whole = join(root, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, source);
    try {
      return judgeImports(root);
    } finally {
      rmSync(whole);
    }
  }

  test.each([
    ['chat/a.ts', "import { accept } from '../queue/accept.ts';"],
    ['chat/a.ts', "import '../queue/accept.ts';"],
    ['chat/a.ts', "import type { Inbox } from '../queue/accept.ts';"],
    ['chat/a.ts', "import { type Inbox } from '../queue/accept.ts';"],
    ['chat/a.ts', "import * as queue from '../queue/accept.ts';"],
    ['chat/a.ts', "export { accept } from '../queue/accept.ts';"],
    ['chat/a.ts', "export * from '../queue/accept.ts';"],
    ['chat/a.ts', "export type { Inbox } from '../queue/accept.ts';"],
    ['chat/a.ts', "const { accept } = await import('../queue/accept.ts');"],
    ['chat/a.ts', 'const { accept } = await import(`../queue/accept.ts`);'],
    ['chat/a.ts', "const { accept } = require('../queue/accept.ts');"],
    ['chat/a.ts', "const path = require.resolve('../queue/accept.ts');"],
    ['chat/a.ts', "import queue = require('../queue/accept.ts');"],
    ['chat/a.ts', "let inbox: import('../queue/accept.ts').Inbox;"],
    ['chat/a.ts', "const name = 'queue'; await import(`../${name}/accept.ts`);"],
    ['chat/deep/a.ts', "import { accept } from '../../queue/accept.ts';"],
    ['messenger/page/a.tsx', "import { chat } from '../../chat/chat-client.ts';"],
    ['service/a.mjs', "import '../platforms/platform.ts';"],
    ['chat/a.ts', "import { loadSettings } from '../settings/load-settings.ts';"],
    ['chat/a.ts', "export { loadSettings } from '../settings/load-settings.ts';"],
    ['chat/a.ts', "import { build } from '../main.ts';"],
    ['chat/a.ts', "import { Queue } from 'bullmq';"],
    ['webhook/a.ts', "import type { Job } from 'bullmq';"],
    ['reply/a.ts', "await import('undici');"],
    ['base/a.ts', "import { readFileSync } from 'fs';"],
    ['base/a.ts', "import '../support/redis.ts';"],
    ['base/a.ts', "import '/etc/a.js';"],
    ['cellar/a.ts', 'export const wine = 1;'],
  ])('%s: %s', (path, source) => {
    expect(judgeFile(path, source)).toHaveLength(1);
  });

  test.each([
    ['turn/a.ts', "import { chat } from '../chat/chat-client.ts';"],
    ['chat/a.ts', "import type { Config } from '../settings/config.ts';"],
    ['chat/a.ts', "import { type Config } from '../settings/config.ts';"],
    ['chat/a.ts', "import { request } from 'undici';"],
    ['chat/a.ts', "import { readFileSync } from 'node:fs';"],
    ['chat/deep/a.ts', "import { line } from '../line-reader.ts';"],
    ['main.ts', "import { loadSettings } from './settings/load-settings.ts'; import './queue/accept.ts';"],
    ['chat/a.ts', "// import '../queue/accept.ts'\nconst text = \"import '../queue/accept.ts'\";"],
  ])('and nothing else is: %s: %s', (path, source) => {
    expect(judgeFile(path, source)).toEqual([]);
  });
});
