import { afterEach, expect, test } from '@jest/globals';
import { loadScript } from '../../../src/shared/redis/lua-script.ts';
import { connectRedis, type RedisPatience } from '../../../src/shared/redis/redis.ts';
import { recordingLog } from '../../support/redis.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';

const script = loadScript(import.meta.url, '../scripts/set-and-count.lua', {
  keys: ['place'],
  args: ['value'],
  answer: 'number',
});
const { log, lines } = recordingLog();
const server = useTestRedis();

const takeWrites = () => server.redis.config('SET', 'min-replicas-to-write', '0');
afterEach(takeWrites);

async function sendWhileRefused(patience: RedisPatience): Promise<{ sent: Promise<unknown>; end(): void }> {
  const redis = connectRedis({ urls: [server.url] }, patience, log, patience);
  await redis.ping().catch(() => new Promise((resolve) => redis.once('ready', resolve)));
  await server.redis.config('SET', 'min-replicas-to-write', '1');
  return { sent: script.run(redis, { place: 'place' }, { value: 'value' }), end: () => redis.disconnect() };
}

test("a worker's script waits until Redis accepts writes again, with one log line", async () => {
  const { sent, end } = await sendWhileRefused('wait');
  let isDone = false;
  const done = sent.then(() => (isDone = true));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isDone).toBe(false);
  await takeWrites();
  await done;
  expect(lines.filter((line) => line.includes('refuses writes'))).toHaveLength(1);
  expect(lines.filter((line) => line.includes('accepts writes again'))).toHaveLength(1);
  end();
});

test("a receiver's script is refused at once, since its caller waits", async () => {
  const { sent, end } = await sendWhileRefused('fail-fast');
  await expect(sent).rejects.toThrow('NOREPLICAS');
  end();
});
