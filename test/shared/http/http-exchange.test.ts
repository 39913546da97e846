import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as tick } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Agent } from 'undici';
import { HttpExchange } from '../../../src/shared/http/http-exchange.ts';
import { tries } from '../../support/tries.ts';

/** Answers each connection's first request with raw bytes. */
let answer: (socket: Socket) => void = () => undefined;
let server: Server;
let agent: Agent;
let url: URL;
const requests: string[] = [];
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      requests.push(String(head));
      answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = new URL(`http://127.0.0.1:${(server.address() as { port: number }).port}/a/b?c=d`);
  agent = new Agent();
});
afterAll(async () => {
  await agent.destroy();
  server.close();
});

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n';
const pieceOf = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

interface Told {
  head?: [number, unknown];
  bytes: string[];
  ends: (string | undefined)[];
}

function exchangeOf(sends = true): { exchange: HttpExchange; told: Told; ended: Promise<void> } {
  const told: Told = { bytes: [], ends: [] };
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const exchange = new HttpExchange({
    onHead: (status, headers) => void (told.head = [status, headers['content-type']]),
    onBytes: (bytes) => void told.bytes.push(bytes.toString('latin1')),
    onEnd(cause) {
      told.ends.push(cause?.message);
      end();
    },
  });
  if (sends) exchange.send(agent, { url, method: 'POST', headers: { a: 'b' }, body: '{}' });
  return { exchange, told, ended };
}

test('a request is sent unchanged, and head, bytes and end are reported in order', async () => {
  requests.splice(0);
  answer = (socket) => socket.end(`${HEAD}${pieceOf('one')}${pieceOf('two')}0\r\n\r\n`);
  const { told, ended } = exchangeOf();
  await ended;
  expect(requests[0]).toMatch(/^POST \/a\/b\?c=d HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n[\s\S]*a: b\r\n[\s\S]*\{\}$/);
  // Data that arrived together is one chunk.
  expect(told).toEqual({ head: [200, 'text/plain'], bytes: ['onetwo'], ends: [undefined] });
});

test('an external end is reported at once, cuts the connection, and is the last event', async () => {
  const closed = new Promise<void>((resolve) => {
    answer = (socket) => {
      socket.once('close', () => resolve());
      socket.write(HEAD + pieceOf('one'));
    };
  });
  const { exchange, told } = exchangeOf();
  while (told.bytes.length === 0) await tick();
  exchange.abort(new Error('enough'));
  expect(told.ends).toEqual(['enough']);
  exchange.abort(new Error('again'));
  await closed;
  await tick();
  expect(told).toMatchObject({ bytes: ['one'], ends: ['enough'] });
});

test('an exchange ended before it was sent, or before it was connected, sends nothing', async () => {
  requests.splice(0);
  const never = exchangeOf(false);
  never.exchange.abort(new Error('no'));
  never.exchange.send(agent, { url, method: 'GET', headers: undefined, body: null });
  const early = exchangeOf();
  early.exchange.abort(new Error('early'));
  expect([never.told.ends, early.told.ends]).toEqual([['no'], ['early']]);
  answer = (socket) => socket.end(`${HEAD}0\r\n\r\n`);
  await exchangeOf().ended;
  expect(requests).toHaveLength(1);
});

test('a request whose connection was established too late, as after a freeze, is not sent, and the connection serves the next [worker-frozen]', async () => {
  requests.splice(0);
  answer = (socket) => socket.end(`${HEAD}0\r\n\r\n`);
  const fresh = new Agent();
  connections = 0;
  const late = exchangeOf(false);
  late.exchange.send(fresh, { url, method: 'POST', headers: undefined, body: 'late', leavesWithinMs: 50 });
  // The process is blocked meanwhile.
  for (const untilMs = performance.now() + 80; performance.now() < untilMs;);
  await late.ended;
  expect(late.told.ends).toEqual(['The request could not be sent in time']);
  const next = exchangeOf(false);
  next.exchange.send(fresh, { url, method: 'POST', headers: undefined, body: 'next', leavesWithinMs: 5_000 });
  await next.ended;
  expect(next.told.ends).toEqual([undefined]);
  expect(requests.map((request) => request.slice(-4))).toEqual(['next']);
  expect(connections).toBe(1);
  await fresh.destroy();
});

test('a closed port and a closed client each end the exchange with a cause', async () => {
  const closedAgent = new Agent();
  await closedAgent.destroy();
  const one = exchangeOf(false);
  one.exchange.send(closedAgent, { url, method: 'GET', headers: undefined, body: null });
  await one.ended;
  const two = exchangeOf(false);
  two.exchange.send(agent, { url: new URL('http://127.0.0.1:1/'), method: 'GET', headers: undefined, body: null });
  await two.ended;
  expect([one.told.ends.length, two.told.ends[0]]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
});

test('bytes that arrive together with a break are reported before it [whole-answers]', () => {
  const { exchange, told } = exchangeOf(false);
  const nothing = () => undefined;
  const controller = { aborted: false, paused: false, reason: null, abort: nothing, pause: nothing, resume: nothing };
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  exchange.onResponseData(controller, Buffer.from('last words'));
  exchange.onResponseError(controller, new Error('broken'));
  exchange.onResponseData(controller, Buffer.from('more'));
  expect(told).toMatchObject({ bytes: ['last words'], ends: ['broken'] });
});

test('all bytes before a break are reported in order, and the end is reported once and last [whole-answers]', async () => {
  const pieces = fc.array(
    fc.string({ minLength: 1, maxLength: 5 }).map((text) => text.replace(/[^ -~]/g, '.')),
    {
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.boolean(), { maxLength: 6 }), fc.boolean(), async (texts, pauses, breaks) => {
      answer = (socket) =>
        void (async () => {
          socket.write(HEAD);
          for (const [index, text] of texts.entries()) {
            socket.write(pieceOf(text));
            if (pauses[index]) await tick();
          }
          socket.end(breaks ? '' : '0\r\n\r\n');
        })();
      const { told, ended } = exchangeOf();
      await ended;
      await tick();
      expect(told.bytes.join('')).toBe(texts.join(''));
      expect(told.ends).toEqual([breaks ? expect.any(String) : undefined]);
    }),
    { numRuns: tries(60) },
  );
});
