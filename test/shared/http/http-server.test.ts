import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FILE_REQUEST_TIMEOUT_MS, listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';

let server: ListeningServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
});

/** A raw connection that collects the server's output until it closes. */
function dial(port: number): { socket: Socket; closed: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let said = '';
  socket.on('data', (bytes) => (said += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve(said))) };
}

function get(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', reject)
      .end();
  });
}

describe('limits [bounded-requests]', () => {
  test('close a request with slow headers with 408 after about five seconds', async () => {
    server = await listen((_request, response) => response.end('ok'), 0, '127.0.0.1');
    const { socket, closed } = dial(server.port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const timer = setInterval(() => socket.write('X-A: b\r\n'), 300);
    const startedMs = performance.now();
    expect(await closed).toContain('408');
    clearInterval(timer);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });

  test('refuse headers beyond 8 KiB with 431', async () => {
    server = await listen((_request, response) => response.end('ok'), 0, '127.0.0.1');
    const { socket, closed } = dial(server.port);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(9_000)}\r\n\r\n`);
    expect(await closed).toContain('431');
  });

  test('close a connection after a few of a thousand pipelined requests', async () => {
    let handled = 0;
    server = await listen(
      (_request, response) => {
        handled += 1;
        setImmediate(() => response.end('ok'));
      },
      0,
      '127.0.0.1',
    );
    const { socket, closed } = dial(server.port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    await closed;
    expect(handled).toBeLessThanOrEqual(16);
    // A few are answered, in order.
    const few = dial(server.port);
    few.socket.write(
      `${'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(7)}GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect((await few.closed).match(/HTTP\/1\.1 200/g)).toHaveLength(8);
  });

  test.each([
    ['otherwise', undefined, 10_000],
    ['for servers that accept files', FILE_REQUEST_TIMEOUT_MS, 60_000],
  ])('have the documented values %s', async (_for, timeoutMs, expectedMs) => {
    server = await listen((_request, response) => response.end('ok'), 0, '127.0.0.1', timeoutMs);
    const { requestTimeout, headersTimeout, keepAliveTimeout, maxConnections } = server.server;
    expect([requestTimeout, headersTimeout, keepAliveTimeout, maxConnections]).toEqual([
      expectedMs,
      5_000,
      65_000,
      10_000,
    ]);
  });
});

describe('closing an HTTP server', () => {
  test('lets an open answer end, accepts nothing new, and closes idle connections', async () => {
    let finish = (): void => undefined;
    server = await listen(
      (incoming, response) => {
        if (incoming.url === '/slow') finish = () => response.end('done');
        else response.end('ok');
      },
      0,
      '127.0.0.1',
    );
    const idle = dial(server.port);
    idle.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => idle.socket.once('data', resolve));
    const slow = get(`${server.url}/slow`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closing = server.close(5_000);
    await idle.closed;
    await expect(get(server.url)).rejects.toThrow();
    finish();
    expect(await slow).toBe(200);
    await closing;
  });

  test('cuts open connections after the grace time', async () => {
    server = await listen(() => undefined, 0, '127.0.0.1');
    const stuck = get(server.url);
    const cut = expect(stuck).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedMs = performance.now();
    await server.close(100);
    await cut;
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  test('may be requested twice', async () => {
    server = await listen(() => undefined, 0, '127.0.0.1');
    await server.close();
    await server.close();
  });
});

test('a port in use is an error, and addresses are written so that they can be opened', async () => {
  server = await listen((_request, response) => response.end('ok'), 0, '0.0.0.0');
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  expect(await get(server.url)).toBe(200);
  await expect(listen(() => undefined, server.port, '0.0.0.0')).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
