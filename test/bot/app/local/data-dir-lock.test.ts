import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashParts, randomToken } from '../../../../src/shared/crypto/ids.ts';
import { lockDataDir } from '../../../../src/bot/app/local/data-dir-lock.ts';

test('refuses a lock that is held and acquires it once its holder was killed', async () => {
  const dataDir = `/data-${randomToken(8)}`;
  const path = join(tmpdir(), `parley-${hashParts(dataDir).slice(0, 20)}.sock`);
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('held'))`;
  const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(holder.stdout, 'data');
  await expect(lockDataDir(dataDir)).rejects.toMatchObject({
    code: 'data_dir_in_use',
    message: expect.stringMatching(
      `^Another Parley is using ${dataDir}: stop (?:\\S+ \\(process ${holder.pid}\\)|it), or set DATA_DIR`,
    ) as unknown as string,
  });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const lock = await lockDataDir(dataDir);
  await lock.release();
});

test('locks of different data directories are independent', async () => {
  const locks = await Promise.all([lockDataDir(`/a-${randomToken(8)}`), lockDataDir(`/b-${randomToken(8)}`)]);
  await Promise.all(locks.map((lock) => lock.release()));
});
