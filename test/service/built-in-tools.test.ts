import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';
import { measureProcessorTime } from '../support/processor-time.ts';

const docs = new DocSearch('/nonexistent');
const models = shippedModelsByName();
const text = { type: 'string' };
const number = { type: 'number' };

interface Tool {
  name: string;
  description?: string;
  properties?: Record<string, object>;
  required?: string[];
}

/** The tool call for a question: name and arguments. Undefined if the model answers itself. */
async function callFor(question: string, tools: Tool[], extra: object = {}): Promise<[string, unknown] | undefined> {
  const request = readChatRequest(
    {
      model: 'svc-max',
      messages: [{ role: 'user', content: question }],
      tools: tools.map(({ name, description = '', properties = {}, required = Object.keys(properties) }) => ({
        type: 'function',
        function: { name, description, parameters: { type: 'object', properties, required } },
      })),
      ...extra,
    },
    models,
  );
  const call = (await composeAnswer(request, docs)).toolCalls[0]?.function;
  return call && [call.name, JSON.parse(call.arguments)];
}

describe('the choice of a tool by the built-in model', () => {
  const tools = [
    { name: 'web_search', description: 'Searches the web for pages' },
    { name: 'get_current_time', description: 'Tells the time in a time zone' },
    { name: 'f' },
    { name: '天气', description: '查询某地的天气' },
  ];

  test.each([
    ['Search the web for otters', 'web_search'],
    ['Use web_search please', 'web_search'],
    ['What time is it in Asia/Shanghai?', 'get_current_time'],
    ['现在几点？', 'get_current_time'],
    ['call f with 5', 'f'],
    ['Please use the function "f" now', 'f'],
    ['f(5)', 'f'],
    ['用 f 算一下', 'f'],
    ['调用函数 f', 'f'],
    ['用天气工具查一下上海', '天气'],
  ])('%s', async (question, name) => expect((await callFor(question, tools))?.[0]).toBe(name));

  test.each(['How do I connect WeCom?', 'hello', 'count to 3', 'What is f?', 'call for 5 of them', 'if (5) then'])(
    'selects no tool for: %s',
    async (question) => expect(await callFor(question, tools)).toBeUndefined(),
  );

  test('follows tool_choice', async () => {
    expect(await callFor('Search the web', tools, { tool_choice: 'none' })).toBeUndefined();
    expect(await callFor('hello', tools, { tool_choice: 'required' })).toBeDefined();
    const choice = { type: 'function', function: { name: 'get_current_time' } };
    expect((await callFor('hello', tools, { tool_choice: choice }))?.[0]).toBe('get_current_time');
  });
});

describe('the arguments that the built-in model selects', () => {
  test.each<[question: string, properties: Record<string, object>, expected: object]>([
    // Numbers: next to their name, otherwise in order, each once.
    ['call f with 5', { n: number }, { n: 5 }],
    ['call f with 3 and 4', { a: number, b: number }, { a: 3, b: 4 }],
    ['call f with b = 3 and a = 4', { a: number, b: number }, { a: 4, b: 3 }],
    ['call f: 2 dice with 6 sides', { sides: { type: 'integer' }, dice: { type: 'integer' } }, { sides: 6, dice: 2 }],
    ['call f with 1.5, -2 and 1,000', { x: number, n: { type: 'integer' }, m: number }, { x: 1.5, n: -2, m: 1000 }],
    ['call f with 10-4', { a: number, b: number }, { a: 10, b: 4 }],
    ['call f for order A-17 with 3', { n: number }, { n: 3 }],
    ['call f on 2026-05-04 with 3', { n: number }, { n: 3 }],
    ['call f with 7', { a: number, b: number, c: { type: 'integer', minimum: 1 } }, { a: 7, b: 0, c: 1 }],
    ['call f with 7', { a: { type: ['null', 'number'] } }, { a: 7 }],
    ['用 f 算 3 和 4', { a: number, b: number }, { a: 3, b: 4 }],
    // Texts: by their name, quoted, ids, places, otherwise the whole question.
    ['call f with "hello there"', { s: text }, { s: 'hello there' }],
    ['call f with “one” and “two”', { a: text, b: text }, { a: 'one', b: 'two' }],
    ['call f with b is two, a is one', { a: text, b: text }, { a: 'one', b: 'two' }],
    ["call f, it's Tom's", { s: text }, { s: "call f, it's Tom's" }],
    ['call f for order ORD-2041, please', { order_id: text }, { order_id: 'ORD-2041' }],
    ['call f for order 2041', { orderId: text }, { orderId: '2041' }],
    ['call f for ann@example.org', { email: text }, { email: 'ann@example.org' }],
    ['call f on https://example.org/a?b=1 now', { url: text }, { url: 'https://example.org/a?b=1' }],
    ['call f for 2026-05-04', { date: text }, { date: '2026-05-04' }],
    ['call f on 12 * (3 + 4)', { expression: text }, { expression: '12 * (3 + 4)' }],
    ['call f: the weather in Beijing?', { city: text }, { city: 'Beijing' }],
    ['call f: the weather in New York tomorrow', { location: text }, { location: 'New York' }],
    ['call f: weather in paris for tomorrow', { city: text }, { city: 'paris' }],
    ['call f: time in Asia/Shanghai', { time_zone: text }, { time_zone: 'Asia/Shanghai' }],
    ['用 f 查北京的天气', { city: text }, { city: '北京' }],
    ['用 f 查一下上海今天天气怎么样', { city: text }, { city: '上海' }],
    ['用 f 看看，在广州几点了？', { city: text }, { city: '广州' }],
    ['call f from London to Paris', { from: text, to: text }, { from: 'London', to: 'Paris' }],
    ['用 f 查从北京到上海', { origin: text, destination: text }, { origin: '北京', destination: '上海' }],
    ['call f and search for otters.', { query: text }, { query: 'otters' }],
    ['用 f 搜索水獭', { query: text }, { query: '水獭' }],
    // Values from the schema.
    ['call f in kelvin', { unit: { type: 'string', enum: ['celsius', 'kelvin'] } }, { unit: 'kelvin' }],
    ['call f below', { level: { enum: ['low', 'high'] } }, { level: 'low' }],
    ['call f: in progress', { state: { enum: ['done', 'in_progress'] } }, { state: 'in_progress' }],
    ['call f with 50', { n: { type: 'integer', enum: [5, 50] } }, { n: 50 }],
    ['call f', { unit: { enum: ['a', 'b'], default: 'b' } }, { unit: 'b' }],
    [
      'call f',
      { kind: { const: 'x' }, ok: { type: 'boolean' }, more: { type: 'object' } },
      { kind: 'x', ok: true, more: {} },
    ],
    ['call f with 1, 2 and 3', { all: { type: 'array', items: number } }, { all: [1, 2, 3] }],
    ['call f with "a" and "b"', { tags: { type: 'array', items: text } }, { tags: ['a', 'b'] }],
    [
      'call f: red and blue',
      { c: { type: 'array', items: { enum: ['red', 'green', 'blue'] } } },
      { c: ['red', 'blue'] },
    ],
    ['call f', { tags: { type: 'array', items: text } }, { tags: ['call f'] }],
  ])('fit the question %s and the properties %j', async (question, properties, expected) => {
    expect(await callFor(question, [{ name: 'f', properties }])).toEqual(['f', expected]);
  });

  test('include an optional property only if the question clearly gives its value', async () => {
    const properties = { city: text, unit: { enum: ['celsius', 'kelvin'] }, days: { type: 'integer' }, note: text };
    const tool = { name: 'weather', properties, required: ['city'] };
    expect(await callFor('weather in Beijing', [tool])).toEqual(['weather', { city: 'Beijing' }]);
    expect(await callFor('weather in Beijing for 3 days in kelvin', [tool])).toEqual([
      'weather',
      { city: 'Beijing', unit: 'kelvin', days: 3 },
    ]);
  });

  test('ignore digits in the name of a tool', async () => {
    expect(await callFor('call area2d with 5', [{ name: 'area2d', properties: { n: number } }])).toEqual([
      'area2d',
      { n: 5 },
    ]);
  });
});

test('contain every required property, quickly, for any question and any schema', async () => {
  const name = fc.oneof(
    fc.constantFrom('city', 'n', '__proto__', 'constructor', 'order_id', 'to', '.*', 'a(b'),
    fc.string(),
  );
  const schema = fc.record(
    {
      type: fc.constantFrom('string', 'number', 'integer', 'array', 'boolean', ['null', 'string']),
      items: fc.constantFrom({ type: 'number' }, 5),
    },
    { requiredKeys: [] },
  );
  const question = fc.array(
    fc.oneof(fc.constantFrom('in', 'from', 'to', '"', '5', 'Beijing', '北京', 'is', '在', '1,000'), fc.string()),
    { maxLength: 200 },
  );
  await fc.assert(
    fc.asyncProperty(question, fc.dictionary(name, schema), fc.array(name), async (words, properties, required) => {
      const spentMs = measureProcessorTime();
      const call = await callFor(words.join(' '), [{ name: 'f', properties, required }], {
        tool_choice: 'required',
      });
      // Rules with more knowledge of the question, such as counting, take precedence.
      for (const wanted of call ? required : []) expect(Object.keys(call?.[1] as object)).toContain(wanted);
      expect(spentMs()).toBeLessThan(1_000);
    }),
  );
});
