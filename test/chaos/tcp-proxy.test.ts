import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { startTcpProxy, type LinkFault, type TcpProxy } from '../support/tcp-proxy.ts';

let server: Server | undefined;
let proxy: TcpProxy | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy?.close();
  server?.close();
});

let heard = '';

/** An echo server behind the proxy. */
async function open(): Promise<Socket> {
  heard = '';
  server = createServer((socket) => {
    socket.on('data', (chunk) => (heard += chunk.toString()));
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startTcpProxy((server.address() as AddressInfo).port);
  return dial();
}

function dial(): Socket {
  const socket = connect(proxy?.port ?? 0, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Resolves when the socket is closed, with or without an error. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function echoed(socket: Socket, text: string, limitMs = 2_000): Promise<string> {
  let got = Buffer.alloc(0);
  const take = (chunk: Buffer) => (got = Buffer.concat([got, chunk]));
  socket.on('data', take);
  socket.write(text);
  const giveUpAtMs = Date.now() + limitMs;
  while (got.length < Buffer.byteLength(text) && Date.now() < giveUpAtMs)
    await new Promise((resolve) => setTimeout(resolve, 5));
  socket.off('data', take);
  return got.toString();
}

test.each<LinkFault>([{ kind: 'slice' }, { kind: 'delay', delayMs: 30 }])(
  '%j delivers all bytes unchanged',
  async (fault) => {
    const socket = await open();
    proxy?.breakWith(fault);
    const startedMs = performance.now();
    expect(await echoed(socket, 'some words, 你好 '.repeat(20))).toBe('some words, 你好 '.repeat(20));
    if (fault.kind === 'delay') expect(performance.now() - startedMs).toBeGreaterThanOrEqual(59);
    proxy?.mend();
    expect(await echoed(socket, 'whole again')).toBe('whole again');
  },
);

test('a cut link breaks after a number of bytes, and new connections work once it is restored', async () => {
  const socket = await open();
  proxy?.breakWith({ kind: 'cut', afterBytes: 50 });
  const closed = closing(socket);
  expect((await echoed(socket, 'x'.repeat(60), 200)).length).toBeLessThan(60);
  await closed;
  proxy?.mend();
  expect(await echoed(dial(), 'new')).toBe('new');
});

test('a held link neither passes nor refuses data, and passes it once it heals', async () => {
  const socket = await open();
  proxy?.breakWith({ kind: 'hold', heals: true });
  expect(await echoed(socket, 'held ', 150)).toBe('');
  expect(await echoed(dial(), 'new too', 150)).toBe('');
  const arrived = once(socket, 'data');
  proxy?.mend();
  expect(String((await arrived)[0])).toBe('held ');
});

test('a held link that does not heal is closed', async () => {
  const socket = await open();
  proxy?.breakWith({ kind: 'hold', heals: false });
  expect(await echoed(socket, 'held', 100)).toBe('');
  const closed = closing(socket);
  proxy?.mend();
  await closed;
});

test('a reset link breaks open and new connections', async () => {
  const socket = await open();
  expect(await echoed(socket, 'before')).toBe('before');
  const closed = closing(socket);
  proxy?.breakWith({ kind: 'reset' });
  await closed;
  await closing(dial());
});

const untilHeard = async (text: string) => {
  for (let waitedMs = 0; heard !== text && waitedMs < 5_000; waitedMs += 10)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return heard;
};

test.each([
  { way: 'there' as const, heardMeanwhile: '' },
  { way: 'back' as const, heardMeanwhile: 'request' },
])('a link held $way only passes the other direction, and is closed afterwards', async ({ way, heardMeanwhile }) => {
  const socket = await open();
  proxy?.breakWith({ kind: 'hold', heals: false, way });
  expect(await echoed(socket, 'request', 200)).toBe('');
  expect(await untilHeard(heardMeanwhile)).toBe(heardMeanwhile);
  const closed = closing(socket);
  proxy?.mend();
  await closed;
  expect(heard).toBe(heardMeanwhile);
});

test('responses alone are delayed if only their direction is slow', async () => {
  const socket = await open();
  proxy?.breakWith({ kind: 'delay', delayMs: 2_000, way: 'back' });
  const startedMs = performance.now();
  const answered = echoed(socket, 'request', 30_000);
  await untilHeard('request');
  expect(performance.now() - startedMs).toBeLessThan(1_900);
  expect(await answered).toBe('request');
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_999);
});

test.each<LinkFault>([
  { kind: 'delay', delayMs: 300, late: true },
  { kind: 'hold', heals: true, late: true },
])('%j delivers the data of a caller that gave up', async (fault) => {
  const socket = await open();
  proxy?.breakWith(fault);
  socket.write('first ');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write('second');
  await new Promise((resolve) => setTimeout(resolve, 50));
  // Data that is already on its way keeps its delay.
  if (fault.kind === 'delay') proxy?.mend();
  socket.resetAndDestroy();
  await closing(socket);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(heard).toBe('');
  if (fault.kind === 'hold') proxy?.mend();
  expect(await untilHeard('first second')).toBe('first second');
});

test('data of a caller that gave up is lost with its connection unless the link delivers late', async () => {
  const socket = await open();
  proxy?.breakWith({ kind: 'delay', delayMs: 200 });
  socket.write('given up');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(heard).toBe('');
});
