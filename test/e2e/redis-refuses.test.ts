import { expect, test } from '@jest/globals';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  HEALED_WITHIN_MS,
  inSec,
  REFUSED_WITHIN_MS,
  report,
  slowestMs,
  statusesOf,
  useSufferingRedis,
} from '../support/suffering-redis.ts';
import { untilTrue } from '../support/deployment.ts';

const suffering = useSufferingRedis();
const { deployment } = suffering;

const FAULTS: { fault: string; redis?: string[]; begin(): Promise<unknown>; end(): Promise<unknown> }[] = [
  {
    fault: 'redis-full: a full Redis (maxmemory, noeviction)',
    begin: () => suffering.tell('CONFIG', 'SET', 'maxmemory', '1'),
    end: () => suffering.tell('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    fault: 'redis-full: a Redis that became a replica (READONLY)',
    begin: () => suffering.tell('REPLICAOF', '127.0.0.1', '1'),
    end: () => suffering.tell('REPLICAOF', 'NO', 'ONE'),
  },
  {
    fault: 'redis-cannot-write: a Redis that cannot write its files (MISCONF)',
    redis: ['--save', '3600', '1'],
    async begin() {
      // A directory with the name of the snapshot file, so that Redis cannot rename its snapshot.
      mkdirSync(join(suffering.dataDir, 'dump.rdb', 'in-the-way'), { recursive: true });
      await suffering.tell('BGSAVE');
      await untilTrue(async () =>
        String(await suffering.tell('INFO', 'persistence')).includes('last_bgsave_status:err'),
      );
    },
    async end() {
      rmSync(join(suffering.dataDir, 'dump.rdb'), { recursive: true });
      await suffering.tell('BGSAVE');
      await untilTrue(async () =>
        String(await suffering.tell('INFO', 'persistence')).includes('last_bgsave_status:ok'),
      );
    },
  },
];

test.each(FAULTS)(
  '$fault: 503 within 2 s and not ready, 200 within 5 s of its end, and all questions answered',
  async ({ fault, redis, begin, end }) => {
    await suffering.start(redis);
    const bot = await deployment.startProcess();
    const before = await suffering.deliver(5);
    expect(statusesOf(before)).toEqual([200]);
    await begin();
    const refused = await suffering.deliver(4);
    expect(statusesOf(refused)).toEqual([503]);
    expect(slowestMs(refused)).toBeLessThan(REFUSED_WITHIN_MS);
    expect(await suffering.isReady()).toBe(false);
    await end();
    const { takenMs, answeredMs, tried } = await suffering.untilServed(HEALED_WITHIN_MS);
    expect(answeredMs).toBeLessThan(HEALED_WITHIN_MS);
    await suffering.expectAnswered([...before, ...refused, ...tried]);
    await untilTrue(suffering.isReady, HEALED_WITHIN_MS);
    expect(bot.output()).not.toContain('Parley stops because of an unexpected error');
    report(
      `${fault}: 503 after at most ${inSec(slowestMs(refused))}, taken again ${inSec(takenMs)} and answered ${inSec(answeredMs)} after its end`,
    );
  },
  90_000,
);
