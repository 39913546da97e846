import { request as sendRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { API_KEY, NO_LIMITS } from '../support.ts';
import { askChat, contentOf, postRaw } from '../chat-client.ts';
import { expectRefused, HELLO, user, WEATHER } from '../chat-bodies.ts';
import { useTestService } from '../use-test-service.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';

const MIB_BYTES = 1_024 * 1_024;

const { service } = useTestService({ chatLimits: NO_LIMITS });

/** The built-in model's text about a tool result. */
const toldBy = (tool: string) =>
  `\`${tool}\` answered:\n\n> 42\n\nI'm Parley's small built-in model: I pass this on unchanged.`;

/** HELLO as JSON with these raw fields appended. */
/** @returns the result of the work and the CPU time that this process spent on it */
async function workingMs<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const spentMs = measureProcessorTime();
  return [await work(), spentMs()];
}
const written = (fields: string) => JSON.stringify(HELLO).replace(/\}$/, `,${fields}}`);

describe('bodies that are not JSON in UTF-8, which get 400 invalid_json', () => {
  test.each([
    ['broken JSON', '{"model":', 'The body is not valid JSON'],
    ['an empty body', '', 'The body is not valid JSON'],
    ['two values', '{}{}', 'The body is not valid JSON'],
    ['NaN', written('"temperature":NaN'), 'The body is not valid JSON'],
    ['a comment', written('/* hot */"temperature":1'), 'The body is not valid JSON'],
    ['a bare number', '5', 'The body must be a JSON object'],
    ['null', 'null', 'The body must be a JSON object'],
    ['a list', '[]', 'The body must be a JSON object'],
    ['a list of requests', `[${JSON.stringify(HELLO)}]`, 'The body must be a JSON object'],
    ['only brackets', '['.repeat(200_000), 'The body is not valid JSON'],
    ['200,000 levels', '['.repeat(200_000) + ']'.repeat(200_000), 'The body must be a JSON object'],
    [
      'an invalid UTF-8 byte in a text',
      Buffer.from(JSON.stringify({ ...HELLO, messages: [user('caf\u00e9')] }), 'latin1'),
      'The body must be UTF-8',
    ],
    [
      'an incomplete character',
      Buffer.from(JSON.stringify({ ...HELLO, messages: [user('你')] }).replace('你', '\xe4\xbd'), 'latin1'),
      'The body must be UTF-8',
    ],
    [
      'a lone surrogate',
      Buffer.from([...Buffer.from('{"model":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
      'The body must be UTF-8',
    ],
    ['UTF-16', Buffer.from(JSON.stringify(HELLO), 'utf16le'), 'The body is not valid JSON'],
    ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x00]), 'The body must be UTF-8'],
  ])('%s', async (_, bytes, message) => {
    const { status, body } = await postRaw(service, bytes);
    expect([status, body]).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_json' } },
    ]);
  });

  test('include a compressed body, which could expand to a large one', async () => {
    const { status, body } = await postRaw(service, gzipSync(JSON.stringify(HELLO)), { 'content-encoding': 'gzip' });
    expect([status, body.error]).toMatchObject([400, { message: 'The body must not be compressed' }]);
  });
});

describe('unusual bodies that are valid', () => {
  test.each([
    ['two equal keys: the later one counts', written('"temperature":9,"temperature":1')],
    [
      '`__proto__` and other keys that every object has',
      written('"__proto__":{"temperature":9},"constructor":5,"toString":null'),
    ],
    ['a byte order mark', `\ufeff${JSON.stringify(HELLO)}`],
    ['space around', `\r\n\t ${JSON.stringify(HELLO)} \n`],
    ['an escaped lone surrogate', JSON.stringify({ ...HELLO, messages: [user('\ud800 hello')] })],
    ['a number with an exponent', written('"temperature":1e-320')],
    ['negative zero', written('"temperature":-0')],
    ['an unknown field of 200,000 levels', written(`"x":${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
  ])('%s', async (_, text) => {
    expect((await postRaw(service, text)).status).toBe(200);
  });

  test('the key `__proto__` adds a field to no object', async () => {
    const text = '{"__proto__":{"model":"svc-max"},"messages":[{"__proto__":{"role":"user"},"content":"x"}]}';
    expect((await postRaw(service, text)).body.error).toMatchObject({ param: 'messages[0].role' });
    expect(Object.prototype).not.toHaveProperty('model');
    const tools = JSON.stringify([WEATHER]).replace('"city":', '"__proto__":{"description":"p"},"city":');
    expect((await postRaw(service, written(`"tools":${tools}`))).status).toBe(200);
    expect(Object.prototype).not.toHaveProperty('description');
  });

  test('numbers that overflow are refused', async () => {
    const { status, body } = await postRaw(service, written('"top_p":1e999'));
    expect([status, body.error]).toMatchObject([400, { message: 'top_p must be a number from 0 to 1' }]);
  });
});

describe('unusual conversations', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const asked = (changes: object) => [
    user('x'),
    { role: 'assistant', content: null, tool_calls: [{ ...call, ...changes }] },
  ];

  test.each([
    [
      'arguments as an object',
      asked({ function: { name: 'f', arguments: {} } }),
      '[1].tool_calls[0].function.arguments',
      'must be a string of JSON',
    ],
    [
      'a call without arguments',
      asked({ function: { name: 'f' } }),
      '[1].tool_calls[0].function.arguments',
      'is missing; it must be a string of JSON',
    ],
    [
      'a call without a name',
      asked({ function: { arguments: '{}' } }),
      '[1].tool_calls[0].function.name',
      'is missing; it must be a string',
    ],
    [
      'a call without its function',
      asked({ function: null }),
      '[1].tool_calls[0].function',
      'must be an object with name and arguments',
    ],
    ['a call without an id', asked({ id: null }), '[1].tool_calls[0].id', 'must be a string'],
    ['a call of another type', asked({ type: 'custom' }), '[1].tool_calls[0].type', 'must be function'],
    [
      'a call that is not an object',
      [user('x'), { role: 'assistant', tool_calls: ['f'] }],
      '[1].tool_calls[0]',
      'must be an object with id, type and function',
    ],
    [
      'calls that are not a list',
      [user('x'), { role: 'assistant', tool_calls: call }],
      '[1].tool_calls',
      'must be a list of at most 256 tool calls',
    ],
    [
      'a tool result with a number as id',
      [...asked({}), { role: 'tool', tool_call_id: 5, content: '1' }],
      '[2].tool_call_id',
      'must be a string',
    ],
    [
      'a result without content',
      [...asked({}), { role: 'tool', tool_call_id: 'c' }],
      '[2].content',
      'is missing; it must be a string or a list of 1 to 200 content parts',
    ],
  ])('get 400 that names %s', async (_, messages, path, be) => {
    await expectRefused(service, { ...HELLO, messages }, `messages${path}`, be);
  });

  test.each([
    ['a tool result', [...asked({}), { role: 'tool', tool_call_id: 'c', content: '42' }], toldBy('f')],
    [
      'a result without an id, which the interface does not list',
      [...asked({}), { role: 'tool', content: '42' }],
      toldBy('tool'),
    ],
    ['a result without a call before it', [{ role: 'tool', tool_call_id: 'c', content: '42' }], toldBy('tool')],
    [
      'a call whose arguments are not JSON',
      [...asked({ function: { name: 'f', arguments: '{oops' } }), { role: 'tool', tool_call_id: 'c', content: '42' }],
      toldBy('f'),
    ],
    [
      'a call without its type',
      [...asked({ type: undefined }), { role: 'tool', tool_call_id: 'c', content: '42' }],
      toldBy('f'),
    ],
    ['null for absent fields', [{ ...user('count to 2'), name: null, tool_calls: null, tool_call_id: null }], '1 2'],
    ['an empty assistant message', [user('x'), { role: 'assistant', content: '' }, user('count to 2')], '1 2'],
    [
      'an assistant message as this service answers, with thoughts',
      [user('x'), { role: 'assistant', content: 'y', reasoning_content: 'z', tool_calls: [] }, user('count to 2')],
      '1 2',
    ],
    ['only a system message', [{ role: 'system', content: 'count to 2' }], expect.stringMatching(/Hello/)],
    ['an assistant message last', [user('count to 2'), { role: 'assistant', content: '1' }], '1 2'],
  ])('%s', async (_, messages, said) => {
    const answer = await askChat(service, { ...HELLO, messages });
    expect(answer.status).toBe(200);
    expect(contentOf(answer)).toEqual(said);
  });
});

describe('request sizes', () => {
  const tooLarge = {
    error: {
      message: 'The body is larger than 32 MiB',
      type: 'invalid_request_error',
      param: null,
      code: 'request_too_large',
    },
  };

  test('of 64 MiB get 413', async () => {
    const { status, body } = await askChat(service, { ...HELLO, messages: [user('a'.repeat(64 * MIB_BYTES))] });
    expect([status, body]).toEqual([413, tooLarge]);
  });

  test('of too many bytes without a Content-Length get 413', async () => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const message = sendRequest(`${service.url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      message.on('error', reject);
      for (let part = 0; part < 40; part += 1) message.write(Buffer.alloc(MIB_BYTES, 'a'));
      message.end();
    });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([413, tooLarge]);
  });

  test('of exactly 32 MiB are read', async () => {
    const empty = JSON.stringify({ ...HELLO, messages: [user('')] });
    const full = empty.replace('""', `"${'a'.repeat(32 * MIB_BYTES - empty.length)}"`);
    expect((await postRaw(service, full)).status).toBe(200);
    expect((await postRaw(service, `${full} `)).status).toBe(413);
  });

  test.each([
    ['messages', '"messages":', 'messages'],
    ['parts', '"model":"svc-plus","messages":[{"role":"user","content":', 'messages[0].content'],
    ['tool calls', '"messages":[{"role":"assistant","tool_calls":', 'messages[0].tool_calls'],
    ['tools', '"tools":', 'tools'],
  ])('with faulty %s get 400 with the field up to 250,000 values, else 413', async (_, start, param) => {
    const end = start.includes('role') ? '}]' : '';
    const ask = (faults: number) => postRaw(service, written(`${start}[${'0,'.repeat(faults)}0]${end}`));
    const named = await ask(240_000);
    expect([named.status, named.body.error]).toMatchObject([400, { param }]);
    const [counted, tookMs] = await workingMs(() => ask(4_000_000));
    expect(tookMs).toBeLessThan(2_000);
    expect([counted.status, counted.body.error]).toMatchObject([413, { code: 'request_too_large', param: null }]);
  });

  test('with two hundred thousand faults are checked only up to the first one', async () => {
    const parts = `[${Array(200).fill('0').join()}]`;
    const messages = `[${Array(1_000).fill(`{"role":"user","content":${parts}}`).join()}]`;
    const [answer, tookMs] = await workingMs(() => postRaw(service, `{"model":"svc-plus","messages":${messages}}`));
    expect(tookMs).toBeLessThan(2_000);
    expect([answer.status, answer.body.error]).toMatchObject([400, { param: 'messages[0].content[0]' }]);
  });

  test('of ten million Chinese characters take little longer than the same number of English bytes', async () => {
    const tookMs = async (text: string) => {
      const [answer, ms] = await workingMs(() => askChat(service, { ...HELLO, messages: [user(text)] }));
      expect(answer.status).toBe(200);
      return ms;
    };
    const englishMs = await tookMs('abc'.repeat(10_000_000));
    expect(await tookMs('你'.repeat(10_000_000))).toBeLessThan(3 * englishMs + 500);
  });
});
