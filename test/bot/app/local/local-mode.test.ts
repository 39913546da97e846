import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRedis } from '../../../../src/shared/redis/redis.ts';
import { faultOfDataDir, openDataDir } from '../../../../src/bot/app/local/data-dir.ts';
import { EmbeddedRedisError, startEmbeddedRedis } from '../../../../src/bot/app/local/embedded-redis.ts';
import { prepareLocalMode, type LocalMode } from '../../../../src/bot/app/local/local-mode.ts';
import { loadSound } from '../../config/environments.ts';
import { recordingLog } from '../../../support/redis.ts';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-local-')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts local mode in a data directory of the test. */
function start(name: string, env: Record<string, string> = {}): Promise<LocalMode> {
  const { config, secrets } = loadSound({ ...env, DATA_DIR: join(folder, name) });
  return prepareLocalMode(config, secrets, { log: recordingLog().log, onGone: () => undefined });
}

async function onRedis<T>(
  url: string | undefined,
  use: (redis: ReturnType<typeof connectRedis>) => Promise<T>,
): Promise<T> {
  const redis = connectRedis({ urls: [url ?? ''] }, 'wait', recordingLog().log, 'test');
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

function isAlive(pid: number | undefined): boolean {
  try {
    return process.kill(pid ?? 0, 0);
  } catch {
    return false;
  }
}

describe('the keys that local mode generates', () => {
  test('have the formats that the protocols require, in a file that only its owner can read', async () => {
    const local = await start('shapes');
    await local.stop();
    expect(local.secrets.secretKey).toHaveLength(32);
    expect(local.secrets.wecomBotAesKey).toMatch(/^[a-zA-Z0-9]{43}$/);
    expect(Buffer.from(`${local.secrets.wecomBotAesKey}=`, 'base64')).toHaveLength(32);
    expect(local.secrets.wecomBotToken).toMatch(/^[a-zA-Z0-9]{1,32}$/);
    expect(local.secrets.slackSigningSecret).toMatch(/^[0-9a-f]{32}$/);
    expect(local.secrets.slackBotToken).toMatch(/^xoxb-[a-zA-Z0-9]{40}$/);
    expect(local.madeApiKey).toBe(local.secrets.serviceApiKeys[0]);
    expect(local.secrets.chatApiKey).toBe(local.madeApiKey);
    expect(local.clients).toEqual([
      {
        client_id: 'parley',
        client_secret: local.secrets.signInClientSecret,
        name: 'Parley',
        redirect_uris: ['http://127.0.0.1:8080/oauth/callback'],
      },
    ]);
    expect(statSync(join(folder, 'shapes', 'keys.json')).mode & 0o777).toBe(0o600);
  });

  test('are shown by the start that generated them and by no other', async () => {
    const first = await start('shown-once');
    await first.stop();
    expect(first.madeApiKey).toBe(first.secrets.serviceApiKeys[0]);
    const second = await start('shown-once');
    await second.stop();
    expect(second.madeApiKey).toBeUndefined();
    expect(second.secrets.serviceApiKeys).toEqual(first.secrets.serviceApiKeys);
  });

  test('are overridden by the settings', async () => {
    const local = await start('given', {
      SERVICE_API_KEYS: 'first,second',
      SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
    });
    await local.stop();
    expect(local.secrets.serviceApiKeys).toEqual(['first', 'second']);
    expect(local.secrets.chatApiKey).toBe('first');
    expect(local.madeApiKey).toBeUndefined();
    expect(local.secrets.secretKey).toEqual(Buffer.alloc(32, 9));
  });

  test('are completed, not replaced, if an earlier version stored fewer', async () => {
    const first = await start('earlier');
    await first.stop();
    const path = join(folder, 'earlier', 'keys.json');
    const {
      slackSigningSecret: _secret,
      slackBotToken: _token,
      ...earlier
    } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
    writeFileSync(path, JSON.stringify(earlier));
    const second = await start('earlier');
    await second.stop();
    expect(second.secrets.secretKey).toEqual(first.secrets.secretKey);
    expect(second.secrets.slackBotToken).toMatch(/^xoxb-/);
    const third = await start('earlier');
    await third.stop();
    expect(third.secrets.slackBotToken).toBe(second.secrets.slackBotToken);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('are never overwritten if their file cannot be read', async () => {
    await (await start('broken')).stop();
    writeFileSync(join(folder, 'broken', 'keys.json'), '{"secretKey":');
    await expect(start('broken')).rejects.toMatchObject({ code: 'local_keys_broken' });
    // The data directory is free again after the failure.
    rmSync(join(folder, 'broken', 'keys.json'));
    await (await start('broken')).stop();
  });
});

describe('the embedded Redis', () => {
  test('listens on a socket that only this user can access, and on no port', async () => {
    const local = await start('a folder 文件夹');
    const path = join(folder, 'a folder 文件夹', 'redis', 'redis.sock');
    const redis = connectRedis({ urls: [...local.secrets.redisUrls] }, 'wait', recordingLog().log, 'test');
    try {
      expect(local.redis?.url).toMatch(/^unix:/);
      expect(await redis.config('GET', 'port')).toEqual(['port', '0']);
      expect(statSync(path).isSocket()).toBe(true);
      expect(statSync(path).mode & 0o077).toBe(0);
    } finally {
      redis.disconnect();
      await local.stop();
    }
  });

  test('keeps its data and the keys across a restart', async () => {
    const first = await start('restart');
    await onRedis(first.redis?.url, (redis) => redis.set('kept', 'yes'));
    await first.stop();
    const second = await start('restart');
    await expect(onRedis(second.redis?.url, (redis) => redis.get('kept'))).resolves.toBe('yes');
    expect(second.secrets).toEqual({ ...first.secrets, redisUrls: second.secrets.redisUrls });
    await second.stop();
    expect(isAlive(second.redis?.pid)).toBe(false);
  });

  test('of a crashed run is ended first, even if frozen, and its data is kept', async () => {
    const redisDir = join(folder, 'crash', 'redis');
    const left = await startEmbeddedRedis({
      dataDir: redisDir,
      extraArguments: ['--pidfile', join(redisDir, 'redis.pid')],
    });
    await onRedis(left.url, (redis) => redis.set('kept', 'yes'));
    process.kill(left.pid, 'SIGSTOP');
    const next = await start('crash');
    expect(isAlive(left.pid)).toBe(false);
    await expect(onRedis(next.redis?.url, (redis) => redis.get('kept'))).resolves.toBe('yes');
    await next.stop();
  });

  test('leaves an unrelated process alone that reuses the recorded process id', async () => {
    const stranger = await startEmbeddedRedis();
    await (await start('stranger')).stop();
    writeFileSync(join(folder, 'stranger', 'redis', 'redis.pid'), `${stranger.pid}\n`);
    await (await start('stranger')).stop();
    expect(isAlive(stranger.pid)).toBe(true);
    await stranger.stop();
  });

  test('is not started if REDIS_URL is set', async () => {
    const local = await start('own', { REDIS_URL: 'redis://127.0.0.1:1' });
    expect(local.redis).toBeUndefined();
    expect(local.secrets.redisUrls).toEqual(['redis://127.0.0.1:1']);
    await local.stop();
  });

  test('rejects with EmbeddedRedisError if the program cannot be started', async () => {
    await expect(startEmbeddedRedis({ program: 'no-such-redis-server' })).rejects.toThrow(EmbeddedRedisError);
  });
});

test('two Parleys never share a data directory', async () => {
  const first = await start('shared');
  await expect(start('shared')).rejects.toMatchObject({ code: 'data_dir_in_use' });
  expect(isAlive(first.redis?.pid)).toBe(true);
  await first.stop();
  await (await start('shared')).stop();
});

test('a data directory that cannot be created is named at the start and by the check, which creates none', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(start('file/below')).rejects.toMatchObject({ code: 'data_dir_unusable' });
  const sentence = (path: string) => `The folder ${path} is not writable: set DATA_DIR to a writable folder`;
  for (const path of [join(folder, 'file'), join(folder, 'file/below')])
    expect(faultOfDataDir(path)).toBe(sentence(path));
  expect(faultOfDataDir(join(folder, 'not/yet/there'))).toBeUndefined();
  expect(existsSync(join(folder, 'not'))).toBe(false);
  // The kernel owns /proc: creating a directory there must fail and not loop.
  expect(() => openDataDir('/proc/parley/data')).toThrow(sentence('/proc/parley/data'));
});

test('rejects a data directory that every user can write to or that belongs to another user [own-data-dir]', () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  for (const mode of [0o777, 0o1777, 0o707, 0o702]) {
    chmodSync(open, mode);
    expect(() => openDataDir(open)).toThrow(/Every user can write to the folder .*: run chmod 700 /);
    expect(faultOfDataDir(open)).toMatch(/Every user can write to the folder/);
  }
  for (const mode of [0o700, 0o750, 0o755, 0o770]) {
    chmodSync(open, mode);
    expect(openDataDir(open)).toBe(realpathSync(open));
  }
  // Only root can change the owner of a directory.
  if (process.getuid?.() !== 0) return;
  chownSync(open, 4_711, 4_711);
  expect(() => openDataDir(open)).toThrow(/belongs to another user: set DATA_DIR to one of your own/);
});
