import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import type { ChatCompletionCreateParams, ChatCompletionMessageParam } from 'openai/resources';
import { createModelCatalog } from '../../src/shared/models/model-catalog.ts';
import { thinkingFields, type Thinking } from '../../src/shared/models/thinking-fields.ts';
import { parseModelsFile } from '../../src/shared/models/models-file.ts';
import { API_KEY, NO_LIMITS, startTestService, type TestService } from '../service/support.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import type { EngineShape } from './engine-shape.ts';
import { ENGINES, modelsFileOf } from './engine-shapes.ts';
import { startEngineStandIn, THOUGHT, USAGE, type EngineStandIn } from './engine-stand-in.ts';

const catalog = createModelCatalog(parseModelsFile(JSON.stringify(modelsFileOf(ENGINES))));
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'current_time', description: 'Tells the time', parameters: { type: 'object', properties: {} } },
  },
];

let server: TestRedis;
let engine: EngineStandIn;
let service: TestService;
let client: OpenAI;

beforeAll(async () => {
  server = await startTestRedis();
  engine = await startEngineStandIn(ENGINES);
  service = await startTestService(server.redis, {
    chatLimits: NO_LIMITS,
    models: catalog,
    upstream: { url: engine.url, models: {} },
  });
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: API_KEY, maxRetries: 0 });
});
afterAll(async () => {
  await service.close();
  await engine.close();
  await server.stop();
});

interface Answered {
  content: string | null | undefined;
  thought: string | undefined;
  calls: string[];
  finish: string | null | undefined;
  tokens: number | undefined;
}

interface WithThought {
  reasoning_content?: string;
}

/** Asks with the official client, which assembles the stream. */
async function ask(
  { model }: EngineShape,
  content: string | object[],
  { stream, ...fields }: { stream: boolean } & Record<string, unknown>,
): Promise<Answered> {
  const messages = [{ role: 'user', content }] as ChatCompletionMessageParam[];
  const request = { model, messages, ...fields } as ChatCompletionCreateParams;
  if (!stream) {
    const { choices, usage } = await client.chat.completions.create({ ...request, stream: false });
    const message = choices[0]?.message;
    return {
      content: message?.content,
      thought: (message as WithThought | undefined)?.reasoning_content,
      calls: namesOf(message?.tool_calls),
      finish: choices[0]?.finish_reason,
      tokens: usage?.total_tokens,
    };
  }
  const runner = client.chat.completions.stream({ ...request, stream: true, stream_options: { include_usage: true } });
  let thought: string | undefined;
  runner.on('chunk', ({ choices }) => {
    const piece = (choices[0]?.delta as WithThought | undefined)?.reasoning_content;
    if (piece !== undefined) thought = (thought ?? '') + piece;
  });
  const { choices, usage } = await runner.finalChatCompletion();
  const message = choices[0]?.message;
  return {
    content: message?.content,
    thought,
    calls: namesOf(message?.tool_calls),
    finish: choices[0]?.finish_reason,
    tokens: usage?.total_tokens,
  };
}

function namesOf(calls: readonly object[] = []): string[] {
  return calls.map((call) => {
    const { name, arguments: args } = (call as { function: { name: string; arguments: string } }).function;
    return `${name} ${args}`;
  });
}

const dialect = ({ model }: EngineShape, thinking: Thinking) => thinkingFields(catalog.of(model), thinking);
const isThinker = ({ entry }: EngineShape) => entry['thinking'] !== undefined;

describe.each([
  ['streamed', true],
  ['whole', false],
])('through the service, %s [overview]', (_form, stream) => {
  describe.each(ENGINES.map((row) => [row.engine, row] as const))('%s', (_engine, row) => {
    const isRefused = (fields: Record<string, unknown>) =>
      row.refusal?.refuses({ model: row.model, messages: [], stream, ...fields }) === true;

    test('text and usage', async () => {
      const { content, finish, tokens } = await ask(row, 'hello', { stream });
      expect([content, finish, tokens]).toEqual(['A whole answer, 完整的回答.', 'stop', USAGE.total_tokens]);
    });

    if (isThinker(row))
      test.each<[Thinking, boolean]>([
        ['high', true],
        ['off', false],
      ])("thinking %s, in the interface's own field", async (thinking, isOn) => {
        const fields = dialect(row, thinking);
        const asked = ask(row, 'hello', { stream, ...fields });
        if (isRefused(fields)) {
          await expect(asked).rejects.toMatchObject({ status: 400, param: Object.keys(fields)[0] });
          return;
        }
        const { content, thought } = await asked;
        expect(content).toBe('A whole answer, 完整的回答.');
        expect(thought).toBe(isOn && row.thoughtIn !== undefined ? THOUGHT : undefined);
      });

    if (row.entry['images'] === true)
      test('a picture', async () => {
        const parts = [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PICTURE } },
        ];
        expect((await ask(row, parts, { stream })).content).toBe('I see a picture.');
      });

    if (row.entry['tools'] !== false)
      test('a tool call', async () => {
        const { calls, finish } = await ask(row, 'What time is it?', { stream, tools: TOOLS });
        expect([calls, finish]).toEqual([['current_time {"timeZone":"UTC"}'], 'tool_calls']);
      });

    test("an error, without the engine's own text", async () => {
      const error: unknown = await ask(row, 'provoke', { stream }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      const { status, message } = error as InstanceType<typeof OpenAI.APIError>;
      expect(status).toBe(row.error.passedOn ?? ([400, 422].includes(row.error.status) ? 400 : 503));
      expect(message).toContain('engine behind this service');
      expect(message).not.toMatch(/litellm|mmproj|registry|\/models\/m|Request id|系统检测/);
    });

    if (row.givesUp && stream)
      test('an answer that the engine abandons ends with an error, or with its own reason', async () => {
        const asked = ask(row, 'give up', { stream });
        if (row.givesUp && 'event' in row.givesUp) await expect(asked).rejects.toThrow();
        else expect((await asked).finish).toBe((row.givesUp as { reason: string }).reason);
      });
  });
});

test('each row of the engine table has its sources and a model name that occurs once', () => {
  expect(ENGINES.length).toBeGreaterThan(11);
  for (const { sources } of ENGINES) for (const source of sources) expect(source).toMatch(/^https:\/\/[\w.-]+\/./);
  expect(new Set(ENGINES.map(({ model }) => model)).size).toBe(ENGINES.length);
});
