import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { composeAnswer, type Answer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';
import { createCurrentTime } from '../../src/bot/tools/current-time.ts';
import { createReadPage } from '../../src/bot/tools/read-page.ts';
import { PUBLIC_WEB } from '../../src/shared/web/egress-policy.ts';
import { createWebSearch } from '../../src/bot/tools/web-search.ts';
import { createWhoAmI } from '../../src/bot/tools/who-am-i.ts';
import { labelToolResult } from '../../src/bot/turn/answer/label-tool-result.ts';

const docs = new DocSearch('/nonexistent');
const models = shippedModelsByName();

/** Parley's own tools as it declares them. */
const PARLEYS = [
  createCurrentTime(() => 0, 'UTC'),
  createWhoAmI(),
  createWebSearch(() => Promise.resolve([])),
  createReadPage(PUBLIC_WEB),
].map(({ name, description, parameters }) => declare(name, description, parameters));

function declare(name: string, description: string, parameters: object) {
  return { type: 'function', function: { name, description, parameters } };
}

function answer(messages: object[], extra: object = {}): Promise<Answer> {
  return composeAnswer(readChatRequest({ model: 'svc-max', messages, ...extra }, models), docs);
}

/** The tool call for a question: name and argument. */
async function callFor(question: string, tools: object[] = PARLEYS): Promise<[string, unknown] | undefined> {
  const { toolCalls } = await answer([{ role: 'user', content: question }], { tools });
  const call = toolCalls[0]?.function;
  return call && [call.name, JSON.parse(call.arguments)];
}

async function textFor(question: string, extra: object = {}): Promise<string> {
  return (await answer([{ role: 'user', content: question }], extra)).text;
}

describe('questions that clearly ask for a tool of Parley, and the resulting call', () => {
  const page = 'https://example.org/a_b?c=1#d';
  test.each<[question: string, tool: string, given: object]>([
    ['Who am I?', 'who_am_i', {}],
    ['Do you know who I am?', 'who_am_i', {}],
    ['Which department am I in?', 'who_am_i', {}],
    ['你知道我是谁吗？', 'who_am_i', {}],
    ['我在哪个部门？', 'who_am_i', {}],
    ['What time is it?', 'current_time', {}],
    ['现在几点了？', 'current_time', {}],
    ['What time is it in New York now?', 'current_time', { timeZone: 'America/New_York' }],
    ['What time is it in Asia/Tokyo?', 'current_time', { timeZone: 'Asia/Tokyo' }],
    ['What time is it in Beijing?', 'current_time', { timeZone: 'Asia/Shanghai' }],
    ['上海现在几点？', 'current_time', { timeZone: 'Asia/Shanghai' }],
    ['What time is it in Nowhere?', 'current_time', {}],
    ['Search for otters', 'web_search', { query: 'otters' }],
    ['Please search the web for otters in rivers.', 'web_search', { query: 'otters in rivers' }],
    ['Look up otters', 'web_search', { query: 'otters' }],
    ['搜索水獭', 'web_search', { query: '水獭' }],
    ['请帮我上网查水獭。', 'web_search', { query: '水獭' }],
    [page, 'read_page', { address: page }],
    [`What does ${page} say?`, 'read_page', { address: page }],
    [`Summarise ${page}.`, 'read_page', { address: page }],
    [`(see ${page})`, 'read_page', { address: page }],
    [`总结一下${page}，谢谢`, 'read_page', { address: page }],
    [`看看${page}讲了什么`, 'read_page', { address: page }],
  ])('%s', async (question, tool, given) => expect(await callFor(question)).toEqual([tool, given]));

  test.each([
    'What am I allowed to ask?',
    'How do I search in the history?',
    'Do I write PUBLIC_URL=https://parley.example.edu in the file?',
    'hello',
  ])('call no tool: %s', async (question) => expect(await callFor(question)).toBeUndefined());

  test('the built-in model calls a tool whose full name is in the question instead of the web search', async () => {
    const flights = declare('search_flights', 'Finds flights', { type: 'object', properties: {} });
    expect((await callFor('Search for flights to Paris', [...PARLEYS, flights]))?.[0]).toBe('search_flights');
  });
});

describe('questions for a tool that is not available, answered with a notice', () => {
  test.each([
    ['Search for otters', 'WEB_SEARCH_URL'],
    ['搜索水獭', 'WEB_SEARCH_URL'],
    ['What does https://example.org say?', 'read_page'],
    ['打开 https://example.org', 'read_page'],
    ['http://127.0.0.1:8084/ read this', 'read_page'],
    ['Read https://example.org for me', '`"read_page": { "on": true }` in `config/tools.json`'],
    ['打开 https://example.org', '重新启动 Parley'],
    ['What time is it?', 'current_time'],
    ['现在几点？', 'current_time'],
    ['Who am I?', '/whoami'],
    ['你知道我是谁吗？', '发送“我是谁”'],
  ])('%s', async (question, part) => {
    expect(await textFor(question)).toContain(part);
    // With `tool_choice: none` a declared tool counts as not available.
    expect(await textFor(question, { tools: PARLEYS, tool_choice: 'none' })).toContain(part);
  });
});

describe('tool results, shown as quotations [tool-rights]', () => {
  const after = (content: string, question = 'Search for otters') => [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'web_search', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content },
  ];

  test('leave out the label that the bot adds', async () => {
    const { text, toolCalls } = await answer(after(labelToolResult('1. Otters\nhttps://example.org\n\nThe end', 500)), {
      tools: PARLEYS,
    });
    expect(toolCalls).toEqual([]);
    expect(text).toBe(
      "`web_search` answered:\n\n> 1. Otters\n> https://example.org\n>\n> The end\n\nI'm Parley's small built-in model: I pass this on unchanged.",
    );
  });

  test('are introduced in the language of the question, and cut if they are long', async () => {
    const { text } = await answer(after('a'.repeat(5_000), '搜索水獭'));
    expect(text).toMatch(/^`web_search` 的结果：\n\n> a{1200}…\n\n我是 Parley/);
  });

  test('cannot break out of the quotation', async () => {
    const lines = fc.array(fc.oneof(fc.constantFrom('', '</tool_result>', '<tool_result>', '# x', '> y'), fc.string()));
    await fc.assert(
      fc.asyncProperty(lines, async (parts) => {
        const { text } = await answer(after(labelToolResult(parts.join('\n'), 200)));
        const inner = text.split('\n\n').slice(1, -1).join('\n\n');
        expect(inner.split(/\r\n|[\n\r]/).every((line) => line.startsWith('>'))).toBe(true);
      }),
    );
  });
});
