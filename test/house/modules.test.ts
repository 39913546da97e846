import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findImports } from './find-imports.ts';
import { findCycles, importsBelow } from './find-cycles.ts';
import { judgeImports, listSources, moduleOf } from './judge-imports.ts';
import { MODULE_RULES } from './module-rules.ts';

test('no module imports another one against its row', () => {
  expect(judgeImports('src')).toEqual([]);
});

test('every row names existing modules, every module has a row, and the rows form no cycle', () => {
  const modules = Object.keys(MODULE_RULES);
  for (const allowed of Object.values(MODULE_RULES))
    expect(allowed.filter((module) => !modules.includes(module))).toEqual([]);
  const present = new Set(listSources('src').flatMap((path) => moduleOf(path) ?? []));
  expect([...present].toSorted()).toEqual(modules.toSorted());
  expect(findCycles(new Map(Object.entries(MODULE_RULES)))).toEqual([]);
});

test('a platform description imports no code except the form of settings', () => {
  const files = ['bot/platforms/registry.ts', 'bot/platforms/description.ts', ...readDescriptions()];
  const reached = files.flatMap((path) =>
    findImports(path, readFileSync(join('src', path), 'utf8'))
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ specifier }) => specifier),
  );
  const allowed = /^(\.\.\/\.\.\/config\/setting(-kinds)?\.ts|\.\/\w+\/description\.ts)$/;
  expect(reached.filter((specifier) => specifier === undefined || !allowed.test(specifier))).toEqual([]);
});

function readDescriptions(): string[] {
  return listSources('src').filter((path) => /^bot\/platforms\/\w+\/description\.ts$/.test(path));
}

describe('the check of imports', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'parley-modules-'));
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
    ['bot/model/a.ts', "import { accept } from '../queue/accept.ts';"],
    ['bot/model/a.ts', "import '../queue/accept.ts';"],
    ['bot/model/a.ts', "import type { Inbox } from '../queue/accept.ts';"],
    ['bot/model/a.ts', "import { type Inbox } from '../queue/accept.ts';"],
    ['bot/model/a.ts', "import * as queue from '../queue/accept.ts';"],
    ['bot/model/a.ts', "export { accept } from '../queue/accept.ts';"],
    ['bot/model/a.ts', "export * from '../queue/accept.ts';"],
    ['bot/model/a.ts', "export type { Inbox } from '../queue/accept.ts';"],
    ['bot/model/a.ts', "const { accept } = await import('../queue/accept.ts');"],
    ['bot/model/a.ts', 'const { accept } = await import(`../queue/accept.ts`);'],
    ['bot/model/a.ts', "const { accept } = require('../queue/accept.ts');"],
    ['bot/model/a.ts', "const path = require.resolve('../queue/accept.ts');"],
    ['bot/model/a.ts', "import queue = require('../queue/accept.ts');"],
    ['bot/model/a.ts', "let inbox: import('../queue/accept.ts').Inbox;"],
    ['bot/model/a.ts', "const name = 'queue'; await import(`../${name}/accept.ts`);"],
    ['bot/model/deep/a.ts', "import { accept } from '../../queue/accept.ts';"],
    ['simulator/web/a.tsx', "import { chat } from '../../bot/model/chat-client.ts';"],
    ['service/a.mjs', "import '../bot/platforms/platform.ts';"],
    ['service/a.ts', "import type { Config } from '../bot/config/config.ts';"],
    ['bot/app/a.ts', "import { runChecks } from '../../cli/check/run-checks.ts';"],
    ['bot/model/a.ts', "import { loadSettings } from '../config/load-settings.ts';"],
    ['bot/model/a.ts', "export { loadSettings } from '../config/load-settings.ts';"],
    ['bot/model/a.ts', "import { build } from '../../main.ts';"],
    ['bot/model/a.ts', "import { Queue } from 'bullmq';"],
    ['bot/ingress/a.ts', "import type { Job } from 'bullmq';"],
    ['bot/reply/a.ts', "await import('undici');"],
    ['shared/a.ts', "import { readFileSync } from 'fs';"],
    ['shared/a.ts', "import '../support/redis.ts';"],
    ['shared/a.ts', "import '/etc/a.js';"],
    ['cellar/a.ts', 'export const wine = 1;'],
    ['bot/cellar/a.ts', 'export const wine = 1;'],
  ])('finds a violation in %s: %s', (path, source) => {
    expect(judgeFile(path, source)).toHaveLength(1);
  });

  test.each([
    ['bot/turn/a.ts', "import { chat } from '../model/chat-client.ts';"],
    ['bot/model/a.ts', "import type { Config } from '../config/config.ts';"],
    ['bot/model/a.ts', "import { type Config } from '../config/config.ts';"],
    ['bot/model/a.ts', "import { request } from 'undici';"],
    ['bot/model/a.ts', "import { readFileSync } from 'node:fs';"],
    ['bot/model/deep/a.ts', "import { line } from '../line-reader.ts';"],
    ['main.ts', "import { loadSettings } from './bot/config/load-settings.ts'; import './bot/queue/accept.ts';"],
    ['bot/model/a.ts', "// import '../queue/accept.ts'\nconst text = \"import '../queue/accept.ts'\";"],
  ])('accepts %s: %s', (path, source) => {
    expect(judgeFile(path, source)).toEqual([]);
  });
});

describe('import cycles', () => {
  test('do not exist between files of the source, the chaos tests and the benchmark', () => {
    expect(['src', 'chaos', 'bench'].flatMap((root) => findCycles(importsBelow(root)))).toEqual([]);
  });

  test('are found', () => {
    const imports = { a: ['b'], b: ['c'], c: ['b', 'd'], d: [], e: ['e'] };
    expect(findCycles(new Map(Object.entries(imports)))).toEqual([['b', 'c'], ['e']]);
  });
});
