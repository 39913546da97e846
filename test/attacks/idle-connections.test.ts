import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { got } from 'got';
import { limitIdleConnections } from '../../src/shared/http/idle-connections.ts';
import { untilTrue } from '../support/deployment.ts';
import { open, type RawConnection } from './raw-client.ts';

const MOST = 20;
let server: Server | undefined;
const opened: RawConnection[] = [];

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

/** A server that responds at once, except to `/slow`, which waits for `endSlow()`. */
async function start(): Promise<{ url: string; endSlow(): void }> {
  const slow: (() => void)[] = [];
  server = createServer((request, response) => {
    if (request.url === '/slow') slow.push(() => response.end('slow'));
    else response.end('ok');
  });
  limitIdleConnections(server, MOST);
  await new Promise<void>((resolve) => server?.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, endSlow: () => slow.splice(0).forEach((end) => end()) };
}

async function dial(url: string, first = ''): Promise<RawConnection> {
  const connection = await open(url, first);
  opened.push(connection);
  return connection;
}

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const isOpen = ({ socket }: RawConnection) => !socket.destroyed && !socket.readableEnded;

test('closes the oldest idle connection when a new one exceeds the limit', async () => {
  const { url } = await start();
  const kept: RawConnection[] = [];
  for (let count = 0; count < MOST; count += 1) {
    const connection = await dial(url, count % 2 === 0 ? GET('/') : '');
    if (count % 2 === 0) await untilTrue(() => connection.said().includes('ok'));
    kept.push(connection);
  }
  expect(kept.every(isOpen)).toBe(true);
  expect((await got(url, { retry: { limit: 0 } })).body).toBe('ok');
  await untilTrue(() => !kept.every(isOpen));
  // New clients get in regardless of the number of idle connections.
  for (let count = 0; count < 5 * MOST; count += 1) await dial(url);
  expect((await got(url, { retry: { limit: 0 } })).body).toBe('ok');
  await untilTrue(() => opened.filter(isOpen).length <= MOST);
});

test('never closes a connection with a request in progress', async () => {
  const { url, endSlow } = await start();
  const busy = await dial(url, GET('/slow'));
  for (let count = 0; count < 3 * MOST; count += 1) await dial(url);
  await untilTrue(() => opened.filter(isOpen).length <= MOST + 1);
  endSlow();
  await untilTrue(() => busy.said().includes('slow'));
});

test('idle connections of one address do not displace those of another address', async () => {
  const { url } = await start();
  const { port } = new URL(url);
  const other = await dial(`http://127.0.0.1:${port}`);
  // Over IPv6, so that the server sees a different address.
  const crowd = await Promise.all(
    Array.from({ length: 3 * MOST }, async () => {
      const connection = await open(url, '', '::1');
      opened.push(connection);
      return connection;
    }),
  );
  await untilTrue(() => crowd.filter(isOpen).length <= MOST);
  other.socket.write(GET('/'));
  await untilTrue(() => other.said().includes('ok'));
});
