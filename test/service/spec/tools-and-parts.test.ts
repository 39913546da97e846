import { describe, expect, test } from '@jest/globals';
import { NO_LIMITS } from '../support.ts';
import { askChat, contentOf, postRaw } from '../chat-client.ts';
import { declare, expectRefused, GIF, HELLO, user, WEATHER } from '../chat-bodies.ts';
import { useTestService } from '../use-test-service.ts';

const { service } = useTestService({ chatLimits: NO_LIMITS });

const FUNCTION = 'must be an object with name, description and parameters';
const NAME = 'must be a name of 1 to 128 letters';
const schema = (changes: object) => declare({ parameters: { ...WEATHER.function.parameters, ...changes } });
/** A property schema with this many levels, as JSON, since jest cannot print the parsed form. */
const nested = (levels: number) => `${'{"items":'.repeat(levels)}{"type":"string"}${'}'.repeat(levels)}`;

describe('tool declaration [tools]', () => {
  test.each<[row: string, tool: unknown, param: string, be: string]>([
    ['an element is an object', 'get_weather', '', 'must be an object with type and function'],
    ['type: required', { function: WEATHER.function }, '.type', 'is missing; it must be function'],
    ['type: fixed to function', { ...WEATHER, type: 'plugin' }, '.type', 'must be function'],
    ['function: required', { type: 'function' }, '.function', `is missing; it ${FUNCTION}`],
    ['function: an object', { type: 'function', function: [] }, '.function', FUNCTION],
    ['function.name: required', declare({ name: undefined }), '.function.name', `is missing; it ${NAME}`],
    ['function.name: a string', declare({ name: 5 }), '.function.name', NAME],
    ['function.name: not empty', declare({ name: '' }), '.function.name', NAME],
    ['function.name: at most 128 letters', declare({ name: 'f'.repeat(129) }), '.function.name', NAME],
    [
      'function.description: required',
      declare({ description: undefined }),
      '.function.description',
      'is missing; it must be a string',
    ],
    ['function.description: a string', declare({ description: [] }), '.function.description', 'must be a string'],
    [
      'function.parameters: required',
      declare({ parameters: undefined }),
      '.function.parameters',
      'is missing; it must be an object with type and properties',
    ],
    [
      'function.parameters: an object',
      declare({ parameters: '{}' }),
      '.function.parameters',
      'must be an object with type and properties',
    ],
    [
      'function.parameters: with type',
      schema({ type: undefined }),
      '.function.parameters.type',
      'is missing; it must be object',
    ],
    ['function.parameters: type = object', schema({ type: 'string' }), '.function.parameters.type', 'must be object'],
    [
      'function.parameters: with properties',
      schema({ properties: undefined }),
      '.function.parameters.properties',
      'is missing; it must be an object with a schema for each name',
    ],
    [
      'function.parameters: properties is an object',
      schema({ properties: ['city'] }),
      '.function.parameters.properties',
      'must be an object with a schema for each name',
    ],
    [
      'function.parameters: each property is an object',
      schema({ properties: { city: 'string' } }),
      '.function.parameters.properties.city',
      'must be an object with type and description',
    ],
    [
      'function.parameters: a description is text',
      schema({ properties: { city: { type: 'string', description: 5 } } }),
      '.function.parameters.properties.city.description',
      'must be a string',
    ],
    [
      'function.parameters: required is a list',
      schema({ required: 'city' }),
      '.function.parameters.required',
      'must be a list of at most 1,000 names',
    ],
    [
      'function.parameters: required is a list of names',
      schema({ required: [true] }),
      '.function.parameters.required[0]',
      'must be the name of a property',
    ],
    [
      'function.parameters: required next to it is a list',
      declare({ required: 'city' }),
      '.function.required',
      'must be a list of at most 1,000 names',
    ],
  ])('%s: otherwise 400 that names it [tools]', async (_, tool, param, be) => {
    await expectRefused(service, { ...HELLO, tools: [WEATHER, tool] }, `tools[1]${param}`, be);
  });

  test('function.parameters: at most 64 levels, otherwise 400 that names it [tools]', async () => {
    const ask = (levels: number) =>
      postRaw(
        service,
        JSON.stringify({ ...HELLO, tools: [schema({ properties: { a: 0 } })] }).replace(
          '"a":0',
          `"a":${nested(levels)}`,
        ),
      );
    expect((await ask(55)).status).toBe(200);
    for (const levels of [65, 20_000, 200_000]) {
      const { status, body } = await ask(levels);
      expect([status, body.error]).toMatchObject([
        400,
        { param: 'tools[0].function.parameters', message: expect.stringMatching(/ must have at most 64 levels$/) },
      ]);
    }
  });

  const properties = { city: { type: 'string', description: 'The city' } };
  test.each([
    ['inside it', declare({ parameters: { type: 'object', properties, required: ['city'] } })],
    ['next to it, as in one sample', declare({ parameters: { type: 'object', properties }, required: ['city'] })],
    [
      'next to it, and null inside',
      declare({ parameters: { type: 'object', properties, required: null }, required: ['city'] }),
    ],
  ])('function.parameters: `required` %s is respected [tools]', async (_, tool) => {
    // The question names no city: only a required property gets a value.
    const messages = [user('use get_weather')];
    const called = async (declared: unknown) => {
      const { body } = await askChat(service, { model: 'svc-plus', messages, tools: [declared] });
      const choices = body.choices as [{ message: { tool_calls: [{ function: { arguments: string } }] } }];
      return choices[0].message.tool_calls[0].function.arguments;
    };
    expect(await called(tool)).toBe('{"city":"use get_weather"}');
    expect(await called(declare({ parameters: { type: 'object', properties } }))).toBe('{}');
  });

  test.each([
    ['names with dots, dashes, colons and Chinese letters', declare({ name: '天气.v2:get-it' })],
    ['a name of 128 letters', declare({ name: 'f'.repeat(128) })],
    [
      'a name that every object has',
      declare({
        name: 'constructor',
        parameters: { type: 'object', properties: {}, required: ['__proto__', 'toString'] },
      }),
    ],
    [
      'further schema keywords',
      schema({
        properties: { city: { enum: ['a'] }, n: { anyOf: [{ type: 'null' }] } },
        additionalProperties: false,
        $defs: {},
      }),
    ],
    ['no properties', schema({ properties: {}, required: [] })],
    ['60 levels', schema({ properties: { a: JSON.parse(nested(60)) } })],
    ['fields that are not in the table', { ...WEATHER, strict: 5, function: { ...WEATHER.function, strict: null } }],
  ])('accepted: %s [tools]', async (_, tool) => {
    for (const content of ['hello', 'What is the weather in Beijing?'])
      expect(
        (await askChat(service, { ...HELLO, messages: [user(content)], tools: [tool], tool_choice: 'required' }))
          .status,
      ).toBe(200);
  });
});

describe('content parts [images]', () => {
  const TYPE = 'must be text or image_url';
  const URL = 'must be a data URL of a base64 image, or an http or https address';
  const ask = (parts: unknown[]) => ({ model: 'svc-plus', messages: [user([{ type: 'text', text: 'x' }, ...parts])] });

  test.each<[row: string, part: unknown, param: string, be: string]>([
    ['a part is an object', 'x', '', 'must be an object whose type is text or image_url'],
    ['a part has a type', { text: 'x' }, '.type', `is missing; it ${TYPE}`],
    ['a part is text or image', { type: 'input_audio' }, '.type', TYPE],
    ['text part: text', { type: 'text' }, '.text', 'is missing; it must be a string'],
    ['text part: text = string', { type: 'text', text: 5 }, '.text', 'must be a string'],
    ['image part: image_url', { type: 'image_url' }, '.image_url', 'is missing; it must be an object with a url'],
    [
      'image part: image_url = object',
      { type: 'image_url', image_url: GIF },
      '.image_url',
      'must be an object with a url',
    ],
    ['image part: url', { type: 'image_url', image_url: {} }, '.image_url.url', `is missing; it ${URL}`],
    ['image part: url is a string', { type: 'image_url', image_url: { url: 5 } }, '.image_url.url', URL],
    [
      'image part: data URL of an image',
      { type: 'image_url', image_url: { url: 'data:text/html;base64,AAAA' } },
      '.image_url.url',
      URL,
    ],
    [
      'image part: data URL in base64',
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } },
      '.image_url.url',
      URL,
    ],
    [
      'image part: no other scheme',
      { type: 'image_url', image_url: { url: 'file:///etc/passwd' } },
      '.image_url.url',
      URL,
    ],
  ])('%s: otherwise 400 that names it [images]', async (_, part, param, be) => {
    await expectRefused(service, ask([part]), `messages[0].content[1]${param}`, be);
  });

  test('at most 200 parts [images]', async () => {
    const parts = (count: number) => ({
      model: 'svc-plus',
      messages: [user(Array(count).fill({ type: 'text', text: 'x' }))],
    });
    await expectRefused(
      service,
      parts(201),
      'messages[0].content',
      'must be a string or a list of 1 to 200 content parts',
    );
    expect((await askChat(service, parts(200))).status).toBe(200);
  });

  test('text parts: all are read [images]', async () => {
    const parts = ['count', 'to 3'].map((text) => ({ type: 'text', text }));
    expect(contentOf(await askChat(service, { model: 'svc-plus', messages: [user(parts)] }))).toBe('1 2 3');
  });

  test('image part, data URL: type and pixel size of the image are read [images]', async () => {
    const image = { type: 'image_url', image_url: { url: GIF, detail: 'low' } };
    expect(contentOf(await askChat(service, ask([image])))).toMatch(/GIF image of 3 × 2 pixels/);
  });

  test('image part: addresses, and bytes that are not an image, are not inspected [images]', async () => {
    const images = ['data:image/png;base64,AAAA', 'https://example.org/a.png'].map((url) => ({
      type: 'image_url',
      image_url: { url },
    }));
    expect(contentOf(await askChat(service, ask(images)))).toMatch(/cannot read[\s\S]*do not open/);
  });
});
