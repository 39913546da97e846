import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startTestRedis } from '../support/redis.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function runScript(name: string, url: string, args: readonly string[], dataDir = ''): Promise<string> {
  const { port } = new URL(url);
  const env = { PATH: process.env['PATH'], REDIS_PORT: port, BACKUP_DIR: folder, REDIS_DATA_DIR: dataDir };
  return (await run('sh', [resolve('ops/redis', name), ...args], { env })).stdout.trim();
}

test('a saved Redis is restored over other data, which are kept beside it', async () => {
  const origin = await startTestRedis({ extraArguments: ['--repl-diskless-sync-delay', '0'] });
  await origin.redis.rpush('conversation', 'first', 'second');
  const file = await runScript('backup-redis.sh', origin.url, []);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(readdirSync(folder)).toEqual([basename(file)]);
  await origin.stop();

  const dataDir = mkdtempSync(join(folder, 'data-'));
  const other = await startTestRedis({ dataDir });
  await other.redis.set('of-another-time', '1');
  await expect(runScript('restore-redis.sh', other.url, [basename(file)], dataDir)).rejects.toThrow(/Redis is running/);
  expect(await other.redis.get('of-another-time')).toBe('1');
  const { url } = other;
  await other.stop();

  expect(await runScript('restore-redis.sh', url, [basename(file)], dataDir)).toMatch(/^1 keys were restored/);
  expect(readdirSync(join(dataDir, 'before-restore')).length).toBeGreaterThan(0);
  const restored = await startTestRedis({ dataDir });
  expect(await restored.redis.lrange('conversation', 0, -1)).toEqual(['first', 'second']);
  expect(await restored.redis.exists('of-another-time')).toBe(0);
  await restored.stop();
}, 60_000);

test('a backup that is cut off is refused, and the data stay as they are', async () => {
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const origin = await startTestRedis({ dataDir, extraArguments: ['--repl-diskless-sync-delay', '0'] });
  await origin.redis.set('a', 'b'.repeat(1_000));
  const file = await runScript('backup-redis.sh', origin.url, []);
  const { url } = origin;
  await origin.stop();
  truncateSync(file, 100);
  const before = readdirSync(dataDir).toSorted();
  await expect(runScript('restore-redis.sh', url, [basename(file)], dataDir)).rejects.toThrow(/not a complete backup/);
  expect(readdirSync(dataDir).toSorted()).toEqual(before);
  expect(existsSync(join(dataDir, 'before-restore'))).toBe(false);
}, 60_000);
