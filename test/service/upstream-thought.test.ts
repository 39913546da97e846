import { describe, expect, test } from '@jest/globals';
import { askChat, streamChat } from './chat-client.ts';
import { begin, DONE, engineChunk, engineReply, stream } from './stand-in-engine.ts';
import { HELLO, pairs } from './upstream-support.ts';

const start = pairs();
const THINKING = { thinking: { type: 'enabled' } };

/** The values that a client assembles from the deltas of a stream. */
async function gather(service: Parameters<typeof streamChat>[0], changes: object) {
  const { chunks } = await streamChat(service, { ...HELLO, ...changes });
  const deltas = chunks.map(({ choices }) => choices[0]?.delta);
  const join = (name: 'content' | 'reasoning_content') => deltas.map((delta) => delta?.[name] ?? '').join('');
  return { content: join('content'), thought: join('reasoning_content') };
}

describe('reasoning_content with thinking on, from any engine field', () => {
  test.each([
    ['reasoning_content', [{ reasoning_content: 'let me ' }, { reasoning_content: 'see' }, { content: 'Hi' }]],
    ['reasoning', [{ reasoning: 'let me ' }, { reasoning: 'see' }, { content: 'Hi' }]],
    ['both', [{ reasoning: 'let me see', reasoning_content: 'let me see' }, { content: 'Hi' }]],
    [
      'null next to the text',
      [
        { reasoning: 'let me see', content: null },
        { reasoning: null, content: 'Hi' },
      ],
    ],
    ['tags in one part', [{ content: '<think>let me see</think>\n\nHi' }]],
    [
      'tags that are cut',
      [
        { content: '' },
        { content: '\n<th' },
        { content: 'ink>let me ' },
        { content: 'see</thi' },
        { content: 'nk>\n' },
        { content: '\nHi' },
      ],
    ],
  ])('is streamed from %s', async (_, deltas) => {
    const { service } = await start(
      stream(...deltas.map((delta) => engineChunk(delta)), engineChunk({}, 'stop'), DONE),
    );
    expect(await gather(service, THINKING)).toEqual({ content: 'Hi', thought: 'let me see' });
    for (const thinking of [undefined, { type: 'disabled' }])
      expect(await gather(service, { thinking })).toEqual({ content: 'Hi', thought: '' });
  });

  test.each([
    ['reasoning_content', { content: 'Hi', reasoning_content: 'hm' }],
    ['reasoning', { content: 'Hi', reasoning: 'hm' }],
    ['tags', { content: '<think>hm</think>Hi' }],
  ])('is part of a complete reply: %s', async (_, message) => {
    const { service } = await start((response) => {
      begin(response, 'application/json').end(JSON.stringify(engineReply(message)));
    });
    const messageOf = async (changes: object) =>
      ((await askChat(service, { ...HELLO, ...changes })).body.choices as [{ message: object }])[0].message;
    expect(await messageOf(THINKING)).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: 'hm' });
    expect(await messageOf({})).toEqual({ role: 'assistant', content: 'Hi' });
  });

  test.each([
    ['in the middle of the text', ['Hi <think>no</think>', ' there']],
    ['a text that begins like a tag', ['<thi', 's> is no tag']],
    ['a text that is only the beginning of a tag', ['<thin', '']],
  ])('does not include %s, which stays in the text', async (_, pieces) => {
    const { service } = await start(
      stream(...pieces.map((content, index) => engineChunk({ content }, index === 1 ? 'stop' : null)), DONE),
    );
    expect(await gather(service, THINKING)).toEqual({ content: pieces.join(''), thought: '' });
  });

  test('does not include a tag after a named thought, which stays in the text', async () => {
    const pieces = [{ reasoning: 'hm' }, { content: '<think>' }, { content: 'is a tag' }];
    const { service } = await start(
      stream(...pieces.map((delta) => engineChunk(delta)), engineChunk({}, 'stop'), DONE),
    );
    expect(await gather(service, THINKING)).toEqual({ content: '<think>is a tag', thought: 'hm' });
  });

  test('leaves content null for a call after a thought in tags', async () => {
    const message = {
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const { service } = await start((response) => {
      begin(response, 'application/json').end(JSON.stringify(engineReply(message)));
    });
    const { body } = await askChat(service, HELLO);
    expect(body.choices).toMatchObject([{ message }]);
  });
});
