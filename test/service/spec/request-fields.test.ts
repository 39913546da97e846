import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NO_LIMITS } from '../support.ts';
import { askChat, contentOf, streamChat } from '../chat-client.ts';
import { expectRefused, HELLO, user, WEATHER } from '../chat-bodies.ts';
import { useTestService } from '../use-test-service.ts';
import { tries } from '../../support/tries.ts';

const { service } = useTestService({ chatLimits: NO_LIMITS });

const ON = { thinking: { type: 'enabled' } };
const A_LIST = 'must be a list of 1 to 10,000 messages';
const CONTENT = 'must be a string or a list of 1 to 200 content parts';
const SHARE = 'must be a number from 0 to 1';
const MISSING = (be: string) => `is missing; it ${be}`;

const REFUSED: [row: string, changes: object, param: string, be: string][] = [
  ['messages: required', { messages: undefined }, 'messages', MISSING(A_LIST)],
  ['messages: required', { messages: null }, 'messages', A_LIST],
  ['messages: an array', { messages: 'hello' }, 'messages', A_LIST],
  ['messages: an array of at least one', { messages: [] }, 'messages', A_LIST],
  ['messages: at most 10,000', { messages: Array(10_001).fill(user('x')) }, 'messages', A_LIST],
  ['messages: an array of messages', { messages: ['hello'] }, 'messages[0]', 'must be an object with role and content'],
  [
    'messages: a message has role',
    { messages: [{ content: 'x' }] },
    'messages[0].role',
    MISSING('must be system, developer, user, assistant or tool'),
  ],
  [
    'messages: role in {system, user, assistant}',
    { messages: [user('x'), { role: 'narrator', content: 'x' }] },
    'messages[1].role',
    'must be system, developer, user, assistant or tool',
  ],
  ['messages: a message has content', { messages: [{ role: 'user' }] }, 'messages[0].content', MISSING(CONTENT)],
  ['messages: content is a string or an array', { messages: [user(7)] }, 'messages[0].content', CONTENT],
  [
    'messages: content is a string or an array',
    { messages: [user({ type: 'text', text: 'x' })] },
    'messages[0].content',
    CONTENT,
  ],
  [
    'messages: content is an array of at least one part',
    { model: 'svc-plus', messages: [user([])] },
    'messages[0].content',
    CONTENT,
  ],
  [
    'messages: content is null only with tool calls',
    { messages: [user('x'), { role: 'assistant', content: null }] },
    'messages[1].content',
    MISSING(CONTENT),
  ],
  [
    'messages: content is null only with tool calls',
    { messages: [{ role: 'assistant', content: null, tool_calls: [] }] },
    'messages[0].content',
    MISSING(CONTENT),
  ],
  [
    'rule: images are for svc-plus only',
    { messages: [user([{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }])] },
    'messages[0].content',
    'must contain text only: svc-max does not support images',
  ],
  ['model: required', { model: undefined }, 'model', MISSING('must be the name of a model')],
  ['model: required', { model: null }, 'model', 'must be the name of a model'],
  ['model: a string', { model: 5 }, 'model', 'must be the name of a model'],
  ['model: a string', { model: '' }, 'model', 'must be the name of a model'],
  ['stream: a boolean', { stream: 'true' }, 'stream', 'must be true or false'],
  ['stream: a boolean', { stream: 1 }, 'stream', 'must be true or false'],
  ['temperature: at most 1', { temperature: 1.01 }, 'temperature', SHARE],
  ['temperature: at least 0', { temperature: -0.01 }, 'temperature', SHARE],
  ['temperature: a float', { temperature: '0.5' }, 'temperature', SHARE],
  ['temperature: a float', { temperature: true }, 'temperature', SHARE],
  ['top_p: at most 1', { top_p: 1.01 }, 'top_p', SHARE],
  ['top_p: at least 0', { top_p: -1 }, 'top_p', SHARE],
  ['top_p: a float', { top_p: [] }, 'top_p', SHARE],
  ['thinking: an object', { thinking: 'enabled' }, 'thinking', 'must be an object whose type is enabled or disabled'],
  ['thinking: an object', { thinking: true }, 'thinking', 'must be an object whose type is enabled or disabled'],
  ['thinking: {type}', { thinking: {} }, 'thinking.type', MISSING('must be enabled or disabled')],
  ['thinking: enabled or disabled', { thinking: { type: 'on' } }, 'thinking.type', 'must be enabled or disabled'],
  [
    'reasoning_effort: low, high or max',
    { ...ON, reasoning_effort: 'medium' },
    'reasoning_effort',
    'must be low, high or max',
  ],
  ['reasoning_effort: a string', { ...ON, reasoning_effort: 3 }, 'reasoning_effort', 'must be low, high or max'],
  [
    'reasoning_effort: only when thinking is enabled',
    { reasoning_effort: 'high' },
    'reasoning_effort',
    'must be left out unless thinking is enabled',
  ],
  [
    'reasoning_effort: only when thinking is enabled',
    { thinking: { type: 'disabled' }, reasoning_effort: 'high' },
    'reasoning_effort',
    'must be left out unless thinking is enabled',
  ],
  [
    'reasoning_effort: only svc-max',
    { ...ON, model: 'svc-plus', reasoning_effort: 'high' },
    'reasoning_effort',
    'must be left out: svc-plus does not support it',
  ],
  ['tools: an array', { tools: {} }, 'tools', 'must be a list of at most 256 function declarations'],
  [
    'tools: an array',
    { tools: Array(257).fill(WEATHER) },
    'tools',
    'must be a list of at most 256 function declarations',
  ],
];

const ACCEPTED: [row: string, changes: object][] = [
  [
    'messages: roles system, user and assistant',
    { messages: [{ role: 'system', content: 'Be brief.' }, user('x'), { role: 'assistant', content: 'y' }, user('z')] },
  ],
  [
    'messages: several system messages',
    {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
        user('x'),
        { role: 'system', content: 'c' },
      ],
    },
  ],
  ['messages: content is an empty string', { messages: [user('x'), { role: 'assistant', content: '' }, user('')] }],
  ['messages: 10,000 of them', { messages: Array(10_000).fill(user('x')) }],
  ['messages: 100,000 letters', { messages: [user('a'.repeat(100_000))] }],
  ['model: svc-plus', { model: 'svc-plus' }],
  ['model: svc-max', { model: 'svc-max' }],
  ['stream: not required', { stream: null }],
  ['stream: false', { stream: false }],
  ['temperature: 0', { temperature: 0 }],
  ['temperature: 1', { temperature: 1 }],
  ['temperature: not required', { temperature: null }],
  ['top_p: 0', { top_p: 0 }],
  ['top_p: 1', { top_p: 1 }],
  ['top_p: not required', { top_p: null }],
  ['thinking: enabled', ON],
  ['thinking: disabled', { thinking: { type: 'disabled' } }],
  ['thinking: not required', { thinking: null }],
  ['rule: sampling fields together with thinking', { ...ON, temperature: 0.3, top_p: 0.3 }],
  ['reasoning_effort: low', { ...ON, reasoning_effort: 'low' }],
  ['reasoning_effort: high', { ...ON, reasoning_effort: 'high' }],
  ['reasoning_effort: max', { ...ON, reasoning_effort: 'max' }],
  ['reasoning_effort: not required', { ...ON, reasoning_effort: null }],
  ['tools: empty', { tools: [] }],
  ['tools: not required', { tools: null }],
  ['tools: declarations', { tools: [WEATHER] }],
  [
    'rule: content is an array for svc-plus',
    { model: 'svc-plus', messages: [user([{ type: 'text', text: 'hello' }])] },
  ],
  ['rule: an array of text parts is text, for any model', { messages: [user([{ type: 'text', text: 'hello' }])] }],
  ['messages: the role developer of newer clients', { messages: [{ role: 'developer', content: 'x' }, user('x')] }],
  ['the withdrawn web search: ignored', { web_search: { enable: true }, enable_search: true, search_options: 5 }],
  [
    'fields that are not in the table: ignored',
    {
      n: 'x',
      max_tokens: -1,
      user: {},
      stop: [1],
      response_format: 7,
      tool_choice: 'any',
      stream_options: 3,
      parallel_tool_calls: 'no',
    },
  ],
];

describe('request fields of the chat interface [request-fields]', () => {
  test.each(REFUSED)('%s: otherwise 400 that names it (%#) [request-fields]', async (_, changes, param, be) => {
    await expectRefused(service, { ...HELLO, ...changes }, param, be);
  });

  test.each(ACCEPTED)('%s: accepted [request-fields]', async (_, changes) => {
    expect((await askChat(service, { ...HELLO, ...changes })).status).toBe(200);
  });
});

test('temperature and top_p: every number from 0 to 1, and no other [request-fields]', async () => {
  const share = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('temperature', 'top_p'), share, async (field, value) => {
      const { status } = await askChat(service, { ...HELLO, [field]: value });
      expect(status).toBe(value >= 0 && value <= 1 ? 200 : 400);
    }),
    { numRuns: tries(60) },
  );
});

test('model: an unknown one is 404 with a list of the known ones [request-fields]', async () => {
  const answer = await askChat(service, { ...HELLO, model: 'gpt-0' });
  expect(answer.body).toEqual({
    error: {
      message: 'There is no model of this name; available models are svc-plus, svc-max',
      type: 'not_found_error',
      param: 'model',
      code: 'model_not_found',
    },
  });
  expect(answer.status).toBe(404);
});

test('stream: true requests a streamed reply; false or no value does not [request-fields]', async () => {
  const { lines } = await streamChat(service, HELLO);
  expect(lines.at(-1)).toBe('data: [DONE]');
  for (const stream of [false, undefined]) {
    const { headers, body } = await askChat(service, { ...HELLO, stream });
    expect([headers['content-type'], body.object]).toEqual(['application/json; charset=utf-8', 'chat.completion']);
  }
});

test('messages: the last one is answered in the context of those before [request-fields]', async () => {
  const messages = [user('How are you?'), { role: 'assistant', content: 'Well.' }, user('What did I ask before?')];
  expect(contentOf(await askChat(service, { ...HELLO, messages }))).toContain('How are you?');
});
