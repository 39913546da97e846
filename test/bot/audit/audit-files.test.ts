import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../../../src/shared/clock.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { appendEntry } from '../../../src/bot/audit/append-entry.ts';
import { readPositions, savePositions, takeLease, endLease } from '../../../src/bot/audit/lease.ts';
import { storeHold } from '../../../src/bot/audit/holds.ts';
import { MoveEntries } from '../../../src/bot/audit/move-entries.ts';
import { readRecord } from '../../../src/bot/audit/read-record.ts';
import { verifyFiles } from '../../../src/bot/audit/verify-files.ts';
import type { AuditClass, AuditPerson } from '../../../src/bot/domain/audit-entry.ts';
import { startRedisServer } from '../../support/redis.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { createLog } from '../../../src/shared/log.ts';
import { tries } from '../../support/tries.ts';
import { describeWith } from '../../support/with-program.ts';

const KEY = Buffer.alloc(32, 7);
const keyRing = new KeyRing([KEY]);
const ANN: AuditPerson = { platform: 'slack', tenant: 't', app: 'a', userId: 'UANN', account: 'account-ann' };
const BEN: AuditPerson = { ...ANN, userId: 'UBEN', account: 'account-ben' };
const DAYS = { question: 10, 'sign-in': 20, admin: 30 };
let server: Awaited<ReturnType<typeof startRedisServer>>;
let redis: RedisClient;
let directory: string;
let nowMs: number;
const directories: string[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  redis = connectRedis({ urls: [server.url] }, 'wait', createLog({ level: 'silent', format: 'json' }), 'test');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  for (const one of directories) rmSync(one, { recursive: true });
});
async function startAnew(): Promise<void> {
  await redis.flushall();
  directory = mkdtempSync(join(tmpdir(), 'parley-audit-'));
  directories.push(directory);
  nowMs = Date.parse('2026-03-01T12:00:00Z');
}
beforeEach(startAnew);

const moverWith = (ring = keyRing, folder: string | undefined = directory) =>
  new MoveEntries({ redis, keyRing: ring, directory: folder, days: DAYS, nowMs: () => nowMs });
const add = (kind: AuditClass, event: string, person?: AuditPerson) =>
  appendEntry(redis, keyRing, { atMs: nowMs, class: kind, event, person, details: { turn: 'x' } });
const verify = async (ring = keyRing) => verifyFiles(directory, ring, await readPositions(redis));
const files = () => readdirSync(directory).sort();
const pathOf = (file: string | undefined) => join(directory, file ?? '');
const linesOf = (file: string | undefined) => readFileSync(pathOf(file), 'utf8').trimEnd().split('\n');
const shown = async (account?: string) => {
  const entries = [];
  for await (const one of readRecord({ redis, keyRing, directory }, { account, mark: undefined, sinceMs: 0 }))
    entries.push(one);
  return entries;
};

/** A record of several files: three days, two leases a day. */
async function writeRecord(): Promise<void> {
  for (let day = 0; day < 3; day += 1) {
    for (let lease = 0; lease < 2; lease += 1) {
      for (const person of [ANN, BEN]) await add('question', `question ${day}.${lease}`, person);
      const mover = moverWith();
      await mover.run();
      await mover.close();
    }
    nowMs += DAY_MS;
  }
}

describe('the files of the audit record [audit-record]', () => {
  test('contain each entry once, under pseudonyms that only the key resolves, and are intact', async () => {
    await writeRecord();
    expect(files()).toHaveLength(6);
    const text = files()
      .map((file) => readFileSync(pathOf(file), 'utf8'))
      .join('');
    expect(text).not.toMatch(/UANN|account-ann/);
    expect(text.match(/"event":"question/g)).toHaveLength(12);
    expect(new Set(text.match(/p-[0-9a-f]{16}/g)).size).toBe(2);
    expect(await verify()).toMatchObject({ files: 6, lines: 18, breaks: [] });
    expect(await shown('account-ann')).toHaveLength(6);
  });

  test('show every changed, removed, added or moved line and every missing file, with its place', async () => {
    const kinds = fc.constantFrom('change', 'remove', 'add', 'swap', 'cut', 'unlink');
    await fc.assert(
      fc.asyncProperty(kinds, fc.nat(5), fc.nat(2), fc.nat(60), async (kind, fileAt, lineAt, charAt) => {
        await startAnew();
        await writeRecord();
        const file = files()[fileAt];
        const lines = linesOf(file);
        const line = lines[lineAt] ?? '';
        const write = (all: readonly string[]) => writeFileSync(pathOf(file), `${all.join('\n')}\n`);
        const at = Math.min(charAt, line.length - 1);
        switch (kind) {
          case 'change':
            write(lines.with(lineAt, `${line.slice(0, at)}${line[at] === '0' ? '1' : '0'}${line.slice(at + 1)}`));
            break;
          case 'remove':
            write(lines.filter((_, index) => index !== lineAt));
            break;
          case 'add':
            appendFileSync(pathOf(file), `${line}\n`);
            break;
          case 'swap':
            write(lines.with(1, lines[2] ?? '').with(2, lines[1] ?? ''));
            break;
          case 'cut':
            truncateSync(pathOf(file), Math.max(0, readFileSync(pathOf(file)).length - 1 - charAt));
            break;
          case 'unlink':
            unlinkSync(pathOf(file));
        }
        const { breaks } = await verify();
        expect(breaks[0]).toMatchObject({ file });
      }),
      { numRuns: tries(40) },
    );
  }, 120_000);

  test('show a cut at any byte and a changed line feed', async () => {
    await add('question', 'one', ANN);
    await moverWith().run();
    const [file = ''] = files();
    const whole = readFileSync(pathOf(file));
    for (let length = whole.length - 1; length > 0; length -= 17) {
      writeFileSync(pathOf(file), whole.subarray(0, length));
      expect((await verify()).breaks[0]).toMatchObject({ file });
    }
    writeFileSync(pathOf(file), whole.toString().replace('\n', '\r'));
    expect((await verify()).breaks[0]).toMatchObject({ file });
    // Longer than any line that is read as one.
    writeFileSync(pathOf(file), 'x'.repeat(3_000_000));
    expect((await verify()).breaks[0]).toMatchObject({ file });
  });

  test('are not intact for another key, and are for a ring that still has theirs', async () => {
    await writeRecord();
    const other = Buffer.alloc(32, 9);
    expect((await verify(new KeyRing([other]))).breaks[0]).toMatchObject({ line: 1, reason: 'no-key' });
    const both = new KeyRing([other, KEY]);
    await add('question', 'later-event', ANN);
    const mover = moverWith(both);
    await mover.run();
    expect(await verify(both)).toMatchObject({ breaks: [] });
    // The person keeps the pseudonym.
    expect(await redis.hlen('{audit}:names')).toBe(2);
    // New people are encrypted with the newest key, also if their entry was not.
    await add('question', 'first-event', { ...ANN, userId: 'UCEL' });
    await mover.run();
    const sealed = await redis.hvals('{audit}:names');
    expect(sealed.map((one) => one.startsWith(`s1.${both.currentKeyId}.`))).toEqual([true, true, true]);
  });

  test.each([
    ['a record', writeRecord],
    ['its first line', async () => undefined],
  ])(
    'get each entry exactly once although a process dies between writing and recording, after %s',
    async (_, write) => {
      await write();
      const positions = await readPositions(redis);
      for (const person of [ANN, BEN]) await add('question', 'before the kill', person);
      await moverWith().run();
      // As after a kill between the write and the record: the positions and the streams are those of before.
      await redis.del('{audit}:lease', '{audit}:positions');
      if (Object.keys(positions).length > 0) await redis.hset('{audit}:positions', positions);
      for (const person of [ANN, BEN]) await add('question', 'before the kill', person);
      await moverWith().run();
      const recorded = files().filter((file) => file.endsWith('.jsonl'));
      expect(readFileSync(pathOf(recorded.at(-1)), 'utf8').match(/before the kill/g)).toHaveLength(2);
      expect(files().filter((file) => file.endsWith('.unrecorded'))).toHaveLength(1);
      expect(await verify()).toMatchObject({ breaks: [] });
    },
  );

  test('get each entry exactly once although a process dies between recording and deleting', async () => {
    await add('question', 'before the kill', ANN);
    const [stream = ''] = await redis.keys('{p*}:audit');
    const [[id, fields] = ['', []]] = await redis.xrange(stream, '-', '+');
    await moverWith().run();
    await redis.del('{audit}:lease', stream);
    await redis.xadd(stream, id, ...fields);
    await moverWith().run();
    expect(await redis.xlen(stream)).toBe(0);
    expect(await shown()).toHaveLength(1);
  });

  test('are written by one process at a time; an erasure gets its turn at once', async () => {
    await add('question', 'one', ANN);
    const mover = moverWith();
    expect(await mover.run()).toBe(1);
    await add('question', 'two', ANN);
    expect(await moverWith().run()).toBe(0);
    expect(await takeLease(redis, 'erasure', true)).toBeUndefined();
    expect(await mover.run()).toBe(0);
    expect(await takeLease(redis, 'erasure', true)).toBeDefined();
    expect(await mover.run()).toBe(0);
    await endLease(redis, 'erasure');
    expect(await mover.run()).toBe(1);
    expect(await verify()).toMatchObject({ breaks: [] });
  });

  test('go with the retention of their class, oldest first, and stay intact', async () => {
    for (const kind of ['question', 'sign-in', 'admin'] as const) await add(kind, 'old', ANN);
    await moverWith().run();
    await redis.del('{audit}:lease');
    nowMs += 15 * DAY_MS;
    for (const kind of ['question', 'sign-in', 'admin'] as const) await add(kind, 'new', BEN);
    await moverWith().run();
    expect(files().map((file) => file.replace(/\.jsonl/, '').replace(/\.0+\d+$/, ''))).toEqual([
      ...['admin.2026-03-01', 'admin.2026-03-16', 'question.2026-03-16', 'sign-in.2026-03-01', 'sign-in.2026-03-16'],
    ]);
    expect(await verify()).toMatchObject({ breaks: [] });
    nowMs += 40 * DAY_MS;
    await redis.del('{audit}:lease');
    await moverWith().run();
    expect(await redis.hlen('{audit}:names')).toBe(0);
  });

  test('stay while a legal hold covers a person in them [legal-hold]', async () => {
    await add('question', 'held', ANN);
    await moverWith().run();
    await storeHold(redis, keyRing, { account: 'account-ann', people: [ANN], sinceMs: nowMs });
    await redis.del('{audit}:lease');
    nowMs += 60 * DAY_MS;
    await add('question', 'new', BEN);
    await moverWith().run();
    expect(await shown('account-ann')).toHaveLength(1);
    expect(await verify()).toMatchObject({ breaks: [] });
  });
});

describeWith('prlimit', 'on a nearly full disk', () => {
  /** A limit for the size of files acts like a disk that takes only the first bytes of a write. */
  const limitFileSize = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);

  test('entries wait in Redis until there is space, none is lost, and the files are intact meanwhile [audit-record]', async () => {
    const mover = moverWith();
    await add('question', 'before', ANN);
    await mover.run();
    await add('question', 'a question', ANN);
    for (let at = 0; at < 20; at += 1) await add('admin', `act ${at}.`);
    limitFileSize(1_500);
    try {
      await expect(mover.run()).rejects.toThrow('EFBIG');
    } finally {
      limitFileSize('unlimited');
    }
    expect(await verify()).toMatchObject({ lines: 2, breaks: [] });
    expect(await mover.run()).toBe(21);
    expect(await shown()).toHaveLength(22);
    expect(await verify()).toMatchObject({ lines: 24, breaks: [] });
  });
});

test('a process whose lease has ended records no position [audit-record]', async () => {
  const first = await takeLease(redis, 'one');
  await endLease(redis, 'one');
  const second = await takeLease(redis, 'two');
  expect(await savePositions(redis, first ?? 0, { place: 'old' })).toBe(false);
  expect(await savePositions(redis, second ?? 0, { place: 'new' })).toBe(true);
  expect(await readPositions(redis)).toEqual({ place: 'new' });
});

test('without AUDIT_DIR the streams are the record, and entries expire there [audit-record]', async () => {
  await add('question', 'old', ANN);
  await add('admin', 'old', undefined);
  nowMs += 15 * DAY_MS;
  await add('question', 'new', ANN);
  const mover = new MoveEntries({ redis, keyRing, directory: undefined, days: DAYS, nowMs: () => nowMs });
  await mover.run();
  const left = [];
  for await (const { event } of readRecord(
    { redis, keyRing, directory: undefined },
    { account: undefined, mark: undefined, sinceMs: 0 },
  ))
    left.push(event);
  expect(left.sort()).toEqual(['new', 'old']);
});
