import { afterAll, expect, test } from '@jest/globals';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationKeys } from '../../../src/bot/domain/partition-keys.ts';
import { startEmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { tries } from '../../support/tries.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

// A machine crash loses the end of the append-only file; this test cuts it at random bytes.

const CUTS = tries(25);
/** Number of servers started in parallel; each of them mostly waits. */
const LANES = 5;
const SEED = 'torn files';
const keyRing = testKeyRing();
const { log } = recordingLog();
const nowMs = () => Date.now();
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-torn-'));
  folders.push(folder);
  return folder;
}
const partsOn = (redis: RedisClient) => ({
  inbox: new Inbox({ redis, keyRing, limits: { personPerMinute: 1_000 } }),
  store: new DyingWorkersStore({ redis, keyRing, nowMs, historyLifeMs: MINUTE_MS }),
});
async function withRedis<Result>(dataDir: string, work: (redis: RedisClient) => Promise<Result>): Promise<Result> {
  const server = await startEmbeddedRedis({ dataDir });
  const redis = connectRedis({ urls: [server.url] }, 'wait', log, 'test');
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
    await server.stop();
  }
}
const people = Array.from({ length: 6 }, (_, index) => `person-${index}`);
const messageOf = (userId: string, text: string) =>
  textMessage(text, { sender: { userId }, chat: { kind: 'private', id: userId } });
const conversationFor = (userId: string) => conversationOf(messageOf(userId, 'x'), 'member');

/** Creates messages in every state of a turn: waiting, running, answered by the model, committed, held. */
async function liveALittle(redis: RedisClient): Promise<void> {
  const { inbox, store } = partsOn(redis);
  for (let round = 0; round < 8; round += 1) {
    for (const [index, userId] of people.entries()) {
      const conversation = conversationFor(userId);
      await inbox.accept(conversation, messageOf(userId, round % 3 === 0 ? '/help' : `${round}`));
      if ((round + index) % 3 === 0) continue;
      const claim = await store.begin(conversation);
      if (!claim) continue;
      await store.storeAnswer(claim, 'an answer');
      const outcome = index === 5 ? 'held' : 'final';
      if ((round + index) % 2 === 0) await store.commit(claim, { outcome, records: [], history: { append: 'turn' } });
    }
  }
}

/**
 * Checks that each message record agrees with the list that contains its message, and that every waiting message can be
 * answered.
 */
async function expectWhole(redis: RedisClient): Promise<number> {
  const { store } = partsOn(redis);
  let found = 0;
  for (const userId of people) {
    const conversation = conversationFor(userId);
    const keys = conversationKeys(conversation);
    const idsIn = async (list: string) => (await redis.lrange(list, 0, -1)).map((entry) => entry.split(':')[0] ?? '');
    const places = { accepted: await idsIn(keys.inbox), held: await idsIn(keys.held) };
    for (const key of await redis.keys(`{p${conversation.partition}}:message:*`)) {
      const [state, owner] = await redis.hmget(key, 'state', 'conversation');
      if (owner !== conversation.id) continue;
      found += 1;
      const id = key.split(':').at(-1) ?? '';
      expect(places.accepted.includes(id)).toBe(state === 'accepted');
      expect(places.held.includes(id)).toBe(state === 'held');
    }
    const isPending = (await redis.zscore(keys.pending, conversation.id)) !== null;
    if (places.accepted.length > 0) expect(isPending).toBe(true);
    await store.release(conversation);
    for (let claim = await store.begin(conversation); claim; claim = await store.begin(conversation)) {
      expect(claim.unreadable).toEqual([]);
      expect(await store.commit(claim, { outcome: 'final', records: [] })).not.toBe('stale');
    }
    expect(await redis.llen(keys.inbox)).toBe(0);
  }
  return found;
}

test(`Redis starts after its file is cut at ${CUTS} random bytes, with no half-applied change [torn-file] [quick-takeover]`, async () => {
  const whole = newFolder();
  await withRedis(whole, liveALittle);
  const files = join(whole, 'appendonlydir');
  const grown = readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '';
  const sizeBytes = statSync(join(files, grown)).size;
  const random = seededRandom(SEED);
  const cuts = Array.from({ length: CUTS }, () => random.integer(0, sizeBytes - 1));
  const found: number[] = [];
  const tearAll = async () => {
    for (let cutAt = cuts.pop(); cutAt !== undefined; cutAt = cuts.pop()) {
      const torn = newFolder();
      cpSync(whole, torn, { recursive: true });
      truncateSync(join(torn, 'appendonlydir', grown), cutAt);
      found.push(await withRedis(torn, expectWhole));
      rmSync(torn, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: LANES }, tearAll));
  expect(found).toHaveLength(CUTS);
  expect(new Set(found).size).toBeGreaterThan(CUTS / 5);
  process.stdout.write(
    `torn-file: started ${found.length} times, with ${Math.min(...found)} to ${Math.max(...found)} messages left\n`,
  );
}, 120_000);
