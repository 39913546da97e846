import { expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess } from '../../support/parley-process.ts';
import { useSlackDeployment } from '../../support/slack-deployment.ts';

const deployment = useSlackDeployment();

/** The sources, below `src/`, of all that a process with these roles loads until it serves. */
async function loadedBy(roles: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-loaded-'));
  try {
    const started = await deployment.startProcess({ ROLES: roles, NODE_V8_COVERAGE: folder });
    started.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    const urls = readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] };
      return result.map(({ url }) => url).filter((url) => /\/dist\/.*\.js$/.test(url));
    });
    const maps = [...new Set(urls)].map((url) => `${fileURLToPath(url)}.map`).filter((path) => existsSync(path));
    return maps
      .flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as { sources: string[] }).sources)
      .flatMap((source) => /^(?:\.\.\/)+src\/(.*)/.exec(source)?.[1] ?? []);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What each role has, and what it leaves to the others. */
const CODE: readonly [roles: string, own: string, others: RegExp][] = [
  [
    'receiver',
    'bot/ingress/handle-delivery.ts',
    /^(?:bot\/(?:turn\/(?:answer|commands)|knowledge\/(?:index|documents))|service\/chat|simulator)\//,
  ],
  ['worker', 'bot/turn/turn-pipeline.ts', /^(?:bot\/ingress|service\/chat|simulator|cli\/setup)\//],
];

test.each(CODE)('a %s loads only the code of its role', async (roles, own, others) => {
  const loaded = await loadedBy(roles);
  expect(loaded).toContain(own);
  expect(loaded.filter((path) => others.test(path))).toEqual([]);
});

test('the stack of a logged error names source files and lines', async () => {
  const started = await startParleyProcess({
    command: [process.execPath, 'dist/main.js', 'start', '--no-open'],
    env: {
      LOG_FORMAT: 'json',
      // Not a folder.
      DATA_DIR: '/dev/null',
      PORT: String(await freePort()),
      SERVICE_PORT: String(await freePort()),
      MESSENGER_PORT: String(await freePort()),
    },
  });
  expect(await started.ended).not.toBe(0);
  const [, line = ''] = /src\/bot\/app\/local\/[\w-]+\.ts:(\d+):\d+/.exec(started.output()) ?? [];
  expect(started.output()).toContain('Parley could not start');
  expect(Number(line)).toBeGreaterThan(1);
});
