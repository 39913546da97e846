import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { API_KEY, startTestService, type TestService } from '../service/support.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

let server: TestRedis;
let service: TestService;
beforeAll(async () => {
  server = await startTestRedis();
  service = await startTestService(server.redis);
});
afterAll(async () => {
  agent.destroy();
  await service.close();
  await server.stop();
});

interface Answered {
  status: number;
  body: string;
  /** Small requests answered between the last byte of the body and its response. */
  answeredMeanwhile: number;
}

async function post(body: Buffer): Promise<Answered> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${API_KEY}`,
    'content-length': body.length,
  };
  const asking = request(`${service.url}/v1/chat/completions`, { method: 'POST', headers });
  const answered = new Promise<Omit<Answered, 'answeredMeanwhile'>>((resolve, reject) => {
    asking.once('error', reject).once('response', (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
  });
  await new Promise((resolve) => asking.write(body.subarray(0, -1), resolve));
  // Lets the server read the bytes that are still in transit.
  for (let count = 0; count < 200; count += 1) await ask();
  asking.end(body.subarray(-1));
  const over = new AbortController();
  asking.once('response', () => over.abort());
  let answeredMeanwhile = 0;
  while (!over.signal.aborted) {
    await ask();
    answeredMeanwhile += 1;
  }
  return { ...(await answered), answeredMeanwhile };
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    request(`${service.url}/healthz`, { agent }, (response) => response.resume().once('end', resolve))
      .once('error', reject)
      .end();
  });
}

const HEAD = '{"model":"svc-max","messages":[{"role":"user","content":"hello"}]';
/** A body with few bytes per parsed value. */
const intricate = (values: number) => Buffer.from(`${HEAD},"x":[${'{"a":[]},'.repeat(values)}0]}`);

test('a body with a very large number of values is validated as usual without blocking other requests', async () => {
  const { status, body, answeredMeanwhile } = await post(intricate(80_000));
  expect([status, body.includes('"finish_reason"')]).toEqual([200, true]);
  expect(answeredMeanwhile).toBeGreaterThan(10);
});

test('a body with a very large number of values yields the usual validation errors', async () => {
  const wrong = Buffer.from(intricate(80_000).toString().replace('"user"', '"nobody"'));
  const { status, body } = await post(wrong);
  expect([status, JSON.parse(body)]).toMatchObject([
    400,
    { error: { code: 'invalid_value', param: 'messages[0].role' } },
  ]);
  const broken = Buffer.from(intricate(80_000).toString().replace(/\}$/, ''));
  const refused = await post(broken);
  expect([refused.status, refused.body.includes('invalid_json')]).toEqual([400, true]);
  expect((await post(Buffer.from(`${HEAD}}`))).status).toBe(200);
});
