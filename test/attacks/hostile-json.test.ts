import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

const KEY = 'sk-hostile-json';

let server: TestRedis;
let service: ParleyProcess;
let url: string;
beforeAll(async () => {
  server = await startTestRedis();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = {
    ROLES: 'service',
    HOST: '127.0.0.1',
    PORT: String(port),
    REDIS_URL: server.url,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    SERVICE_API_KEYS: KEY,
  };
  service = await startParleyProcess({ env, until: /Reached at/ });
  for (let status = 0; status !== 200;)
    status = await fetch(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
});
afterAll(async () => {
  service.kill('SIGTERM');
  await service.ended;
  await server.stop();
});

interface Answered {
  status: number;
  body: string;
}

function post(body: string | Buffer): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
    const asking = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    asking.once('error', (error) => reject(error)).end(body);
  });
}

/** Posts like a client that reads nothing until it has sent everything. @returns the status line of the response */
async function postWithoutReading(body: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const write = promisify(socket.write.bind(socket) as (text: string, done: (error?: Error | null) => void) => boolean);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n`;
  await write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
  const half = Math.ceil(body.length / 2);
  await write(body.slice(0, half));
  // The server has rejected the request by now.
  await setTimeout(200);
  await write(body.slice(half));
  let answer = '';
  for await (const bytes of socket) answer += String(bytes);
  return answer.slice(0, answer.indexOf('\r\n'));
}

const codeOf = ({ body }: Answered): unknown => (JSON.parse(body) as { error: { code: unknown } }).error.code;

const MIB = 1_048_576;
const times = (text: string, count: number): string => text.repeat(count).slice(0, -1);
const MESSAGE = '{"role":"user","content":"hi"}';
const around = (more: string): string => `{"model":"svc-max","messages":[${MESSAGE}],${more}}`;
const numbered = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(',');

/** Bodies whose parsed form costs far more memory or time than their bytes suggest, one per shape. */
const COSTLY: [name: string, body: () => string][] = [
  ['empty lists as messages', () => `{"messages":[${times('[],', 7_000_000)}]}`],
  ['empty objects as messages', () => `{"model":"svc-max","messages":[${times('{},', 5_000_000)}]}`],
  ['lists within lists', () => around(`"x":${'['.repeat(10_000_000)}${']'.repeat(10_000_000)}`)],
  ['objects within objects', () => around(`"x":${'{"a":'.repeat(4_000_000)}1${'}'.repeat(4_000_000)}`)],
  ['many different names', () => around(numbered(1_500_000, (index) => `"k${index}":1`))],
  ['one name many times', () => around(times('"x":1,', 5_000_000))],
  ['many small strings', () => around(`"x":[${times('"a",', 7_000_000)}]`)],
  ['many small numbers', () => around(`"x":[${times('1,', 14_000_000)}]`)],
  ['many tools', () => around(`"tools":[${times('{"type":"function","function":{}},', 800_000)}]`)],
  [
    'one tool of many properties',
    () =>
      around(
        `"tools":[{"type":"function","function":{"name":"f","description":"","parameters":{"type":"object","properties":{${numbered(900_000, (index) => `"p${index}":{"type":"x"}`)}}}}}]`,
      ),
  ],
  [
    'many content parts',
    () => `{"model":"svc-plus","messages":[{"role":"user","content":[${times('{},', 7_000_000)}]}]}`,
  ],
  ['an unclosed list', () => `{"messages":[${'[],'.repeat(7_000_000)}`],
];

/** Large bodies with few values, which are accepted or rejected on their content. */
const LONG: [name: string, body: () => string, status: number][] = [
  ['one long number', () => around(`"x":1${'0'.repeat(20 * MIB)}`), 200],
  [
    'one long text of commas and brackets',
    () => `{"model":"svc-max","messages":[{"role":"user","content":"${',[{'.repeat(3 * MIB)}"}]}`,
    200,
  ],
  [
    'one long text of escaped quotation marks',
    () => `{"model":"svc-max","messages":[{"role":"user","content":"${'\\",'.repeat(3 * MIB)}"}]}`,
    200,
  ],
  ['one long text that does not end', () => `{"messages":["${'\\"'.repeat(8 * MIB)}`, 400],
  ['blanks', () => around(`"x":${' '.repeat(20 * MIB)}1`), 200],
];

describe('POST /v1/chat/completions with a hostile body', () => {
  test.each(COSTLY)('rejects it before parsing: %s [bounded-json]', async (_name, body) => {
    const answer = await post(body());
    expect([answer.status, codeOf(answer)]).toEqual([413, 'request_too_large']);
    expect(await post(around('"stream":false'))).toMatchObject({ status: 200 });
  });

  test('responds to a client that is still sending and asked to close the connection [bounded-json]', async () => {
    expect(await postWithoutReading(`{"messages":[${times('[],', 7_000_000)}]}`)).toBe(
      'HTTP/1.1 413 Payload Too Large',
    );
    expect(await postWithoutReading(' '.repeat(33 * MIB))).toBe('HTTP/1.1 413 Payload Too Large');
  });

  test.each(LONG)('validates a large body with few values: %s [bounded-json]', async (_name, body, status) => {
    expect((await post(body())).status).toBe(status);
    expect(await post(around('"stream":false'))).toMatchObject({ status: 200 });
  });
});

test('the service answers other requests while hostile bodies arrive in parallel [bounded-json]', async () => {
  const allowed = around(`"x":[${times('{"a":[]},', 80_000)}]`);
  const refused = `{"messages":[${times('[],', 7_000_000)}]}`;
  const state = { areOver: false };
  const keepPosting = async (body: string, status: number) => {
    do expect((await post(body)).status).toBe(status);
    while (!state.areOver);
  };
  const hostile = Promise.all(
    [allowed, refused, allowed, refused].map((body) => keepPosting(body, body === allowed ? 200 : 413)),
  );
  for (let served = 0; served < 20; served += 1) {
    const answer = await fetch(`${url}/healthz`);
    expect(answer.status).toBe(200);
    await answer.text();
  }
  state.areOver = true;
  await hostile;
});
