import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Pool } from 'undici';
import { flip, flips } from '../support/flip-bytes.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { fuzzing, fuzzTestMs } from '../support/fuzz-time.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from './support.ts';
import { anyText } from '../support/any-text.ts';

/** Time of a request that hangs: far above that of any answer, also on a busy machine. */
const HANG_MS = 5_000;
/** Occurs in values only. An error that contains it has repeated the caller's text. */
const MARK = 'zq7-private-words';

let server: TestRedis;
let service: TestService;
let pool: Pool;

beforeAll(async () => {
  server = await startTestRedis();
  const docsDir = fileURLToPath(new URL('../../', import.meta.url));
  service = await startTestService(server.redis, { chatLimits: NO_LIMITS, docsDir });
  pool = new Pool(service.url, { connections: 4 });
  await post('{"model":"svc-max","messages":[{"role":"user","content":"How do I connect WeCom?"}]}');
});
afterAll(async () => {
  await pool.destroy();
  await service.close();
  await server.stop();
});

const words = fc.constantFrom(
  'hello',
  'count to 5',
  'What is the weather in Beijing?',
  '现在几点？',
  'call f with 5',
  MARK,
  'How do I connect WeCom?',
  'repeat: \u0000\ud800x',
);
const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(null, '', 0, -1, 2, 1e308, true, [], {}, MARK), fc.string());
const mostly = <T>(usual: fc.Arbitrary<T>) => fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: odd });
const text = mostly(fc.oneof(words, anyText({ maxLength: 200 })));
const part = fc.oneof(
  fc.record({ type: mostly(fc.constant('text')), text }),
  fc.record({
    type: mostly(fc.constant('image_url')),
    image_url: mostly(
      fc.record({
        url: mostly(
          fc.oneof(
            fc.base64String().map((data) => `data:image/png;base64,${data}`),
            fc.webUrl(),
          ),
        ),
      }),
    ),
  }),
);
const call = fc.record(
  {
    id: mostly(fc.constant('c1')),
    type: mostly(fc.constant('function')),
    function: mostly(fc.record({ name: mostly(fc.constant('f')), arguments: mostly(fc.json()) })),
  },
  { requiredKeys: ['id', 'function'] },
);
const message = fc.record(
  {
    role: mostly(fc.constantFrom('system', 'user', 'assistant', 'tool')),
    content: mostly(
      fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: fc.array(mostly(part), { maxLength: 3 }) }),
    ),
    tool_calls: mostly(fc.array(call, { maxLength: 2 })),
    tool_call_id: mostly(fc.constant('c1')),
  },
  { requiredKeys: ['role', 'content'] },
);
const propertySchema = mostly(
  fc.record(
    {
      type: mostly(fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object')),
      description: mostly(fc.string()),
      enum: mostly(fc.array(odd, { maxLength: 3 })),
      items: mostly(fc.record({ type: fc.constantFrom('string', 'array', 'number') })),
    },
    { requiredKeys: ['type'] },
  ),
);
const tool = fc.record({
  type: mostly(fc.constant('function')),
  function: mostly(
    fc.record(
      {
        name: mostly(fc.constantFrom('f', 'get_weather', 'get_current_time')),
        description: mostly(fc.string()),
        parameters: mostly(
          fc.record(
            {
              type: mostly(fc.constant('object')),
              properties: mostly(
                fc.dictionary(fc.constantFrom('city', 'n', 'unit', 'query', '__proto__'), propertySchema),
              ),
              required: mostly(fc.array(mostly(fc.constantFrom('city', 'n', '__proto__', 'constructor')))),
            },
            { requiredKeys: ['type', 'properties'] },
          ),
        ),
        required: mostly(fc.array(fc.constantFrom('city', 'n'))),
      },
      { requiredKeys: ['name', 'description', 'parameters'] },
    ),
  ),
});
const request = fc.record(
  {
    model: mostly(fc.constantFrom('svc-plus', 'svc-plus', 'svc-max')),
    messages: mostly(fc.array(mostly(message), { minLength: 1, maxLength: 4 })),
    stream: mostly(fc.boolean()),
    temperature: mostly(fc.double({ min: 0, max: 1, noNaN: true })),
    top_p: mostly(fc.double({ min: 0, max: 1, noNaN: true })),
    thinking: mostly(fc.record({ type: mostly(fc.constantFrom('enabled', 'disabled')) })),
    reasoning_effort: mostly(fc.constantFrom(undefined, undefined, undefined, 'low', 'high', 'max')),
    tools: mostly(fc.array(mostly(tool), { maxLength: 3 })),
    tool_choice: mostly(fc.constantFrom('auto', 'none', 'required')),
    stream_options: mostly(fc.record({ include_usage: mostly(fc.boolean()) })),
    web_search: odd,
    ['__proto__']: odd,
  },
  { requiredKeys: ['model', 'messages'] },
);

const body: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue().map(toBytes) },
  { weight: 5, arbitrary: request.map(toBytes) },
  {
    weight: 3,
    arbitrary: fc.tuple(request, flips).map(([value, changes]) => changes.reduce(flip, toBytes(value))),
  },
);

function toBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

interface Answer {
  status: number;
  body: string;
  tookMs: number;
}

async function post(bytes: Buffer | string): Promise<Answer> {
  const startedAtMs = performance.now();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` };
  const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body: bytes });
  return { status: answer.statusCode, body: await answer.body.text(), tookMs: performance.now() - startedAtMs };
}

function judge({ status, body: answer }: Answer, isMarkSafe: boolean): void {
  if (status === 200) {
    if (answer.startsWith('{')) expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion' });
    else expect(answer).toMatch(/^data: \{[\s\S]*data: \[DONE\]\n\n$/);
    return;
  }
  expect([400, 404]).toContain(status);
  const { error } = JSON.parse(answer) as { error: Record<string, unknown> };
  expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  expect(error).toMatchObject({
    message: expect.stringMatching(/./),
    type: expect.any(String),
    code: expect.any(String),
  });
  const { param, message: told, code } = error as Record<string, string | null>;
  if (code === 'invalid_value') expect(told?.startsWith(`${param ?? '?'} `)).toBe(true);
  else expect(param).toBe(code === 'model_not_found' ? 'model' : null);
  // Zod's own messages must not appear.
  expect(told).not.toMatch(/invalid input|expected|received/i);
  if (isMarkSafe) expect(answer).not.toContain(MARK);
}

test(
  "arbitrary bytes get a reply or a 4xx with the complete error object in time, without the caller's text [chat-completions]",
  async () => {
    const count = { bodies: 0, replies: 0 };
    const hasMarkAsKey = new RegExp(`"[^"]*${MARK}[^"]*"\\s*:`);
    const anything = fc.asyncProperty(body, async (bytes) => {
      const answer = await post(bytes);
      expect(answer.tookMs).toBeLessThan(HANG_MS);
      judge(answer, !hasMarkAsKey.test(bytes.toString()));
      count.bodies += 1;
      if (answer.status === 200) count.replies += 1;
    });
    await fc.assert(anything, fuzzing(500));
    // Both kinds occur often enough, however few runs the tier has.
    while (Math.min(count.replies, count.bodies - count.replies) <= 20) await fc.assert(anything, { numRuns: 20 });
    if (process.env['FUZZ_SEC'])
      process.stderr.write(`chat fuzzer: ${count.bodies} bodies, ${count.replies} replies\n`);
    expect(count.replies).toBeGreaterThan(20);
    expect(count.bodies - count.replies).toBeGreaterThan(20);
    expect(service.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  },
  fuzzTestMs,
);
