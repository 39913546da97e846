import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { findRedisProgram } from '../../src/bot/app/local/redis-program.ts';
import { startTestRedis } from '../support/redis.ts';
import { cutFences, readPage } from './pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = promisify(execFile);
const server = findRedisProgram();
const client = server.replace('server', 'cli');

/** The commands of the page, with a separate Redis in place of the usual one. */
function linesFor(port: number, dataDir: string): string[][] {
  return cutFences(readPage('docs/guide/OPERATIONS.md'))
    .fences.flatMap(({ lines }) => lines)
    .filter((line) => line.startsWith('redis-'))
    .map((line) => line.replace('/var/lib/redis', dataDir).replace('parley-backup.rdb', join(folder, 'copy.rdb')))
    .map((line) => {
      const [program, ...args] = line.split(' ');
      const at = program === 'redis-server' ? ['--bind', '127.0.0.1', '--port', String(port)] : ['-p', String(port)];
      return [program === 'redis-server' ? server : client, ...at, ...args];
    });
}

test('a Redis backed up and restored by the documented steps has its data, also after the next start', async () => {
  const origin = await startTestRedis({ extraArguments: ['--repl-diskless-sync-delay', '0'] });
  try {
    await origin.redis.rpush('conversation', 'first', 'second');
    const [backUp = []] = linesFor(Number(new URL(origin.url).port), '');
    await run(backUp[0] ?? '', backUp.slice(1));
    await origin.redis.rpush('conversation', 'said after the copy');
  } finally {
    await origin.stop();
  }

  const dataDir = join(folder, 'restored');
  mkdirSync(dataDir);
  cpSync(join(folder, 'copy.rdb'), join(dataDir, 'dump.rdb'));
  const port = await freePort();
  const [, start = [], ...steps] = linesFor(port, dataDir);
  const restoring = spawn(start[0] ?? '', start.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(restoring, 'exit');
  try {
    let output = '';
    for await (const chunk of restoring.stdout) if (/Ready to accept/i.test((output += String(chunk)))) break;
    let persistence = '';
    for (const [program = '', ...args] of steps) persistence = (await run(program, args)).stdout;
    while (!persistence.includes('aof_rewrite_in_progress:0\r'))
      persistence = (await run(client, ['-p', String(port), 'info', 'persistence'])).stdout;
    expect(persistence).toContain('aof_enabled:1');
  } finally {
    restoring.kill('SIGTERM');
    await ended;
  }

  const restored = await startTestRedis({ dataDir });
  try {
    expect(await restored.redis.lrange('conversation', 0, -1)).toEqual(['first', 'second']);
  } finally {
    await restored.stop();
  }
}, 60_000);
