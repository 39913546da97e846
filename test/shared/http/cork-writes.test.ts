import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { recordingLog } from '../../support/redis.ts';

let server: EmbeddedRedis;
let door: Server;
let redis: RedisClient;
/** The data of each write on the connection. */
const writes: string[] = [];

beforeAll(async () => {
  server = await startEmbeddedRedis();
  const { port } = new URL(server.url);
  door = createServer((socket) => {
    const behind = connect(Number(port), '127.0.0.1');
    socket.on('data', (bytes) => writes.push(bytes.toString()));
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => behind.destroy());
    behind.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const url = `redis://127.0.0.1:${(door.address() as AddressInfo).port}`;
  redis = connectRedis({ urls: [url] }, 'wait', recordingLog().log, 'test');
  await redis.ping();
});
afterAll(async () => {
  redis.disconnect();
  door.close();
  await server.stop();
});

test('commands of one turn of the event loop are sent in one write, in order, and each gets its own reply', async () => {
  writes.splice(0);
  const sent = Array.from({ length: 30 }, async (_, index) => [
    await redis.rpush('list', String(index)),
    await redis.echo(`reply-${index}`),
  ]);
  expect(await Promise.all(sent)).toEqual(Array.from({ length: 30 }, (_, index) => [index + 1, `reply-${index}`]));
  expect(await redis.lrange('list', 0, -1)).toEqual(Array.from({ length: 30 }, (_, index) => String(index)));
  expect(writes.filter((write) => write.includes('rpush'))).toHaveLength(1);
});
