import { describe, expect, test } from '@jest/globals';
import { askChat, streamChat } from './chat-client.ts';
import { begin, DONE, engineChunk, engineReply, stream } from './stand-in-engine.ts';
import { HELLO, pairs } from './upstream-support.ts';

const start = pairs();
const THINKING = { thinking: { type: 'enabled' } };

/** What a client puts together from a stream's deltas. */
async function gather(service: Parameters<typeof streamChat>[0], changes: object) {
  const { chunks } = await streamChat(service, { ...HELLO, ...changes });
  const deltas = chunks.map(({ choices }) => choices[0]?.delta);
  const join = (name: 'content' | 'reasoning_content') => deltas.map((delta) => delta?.[name] ?? '').join('');
  return { content: join('content'), thought: join('reasoning_content') };
}

describe('reasoning_content: while thinking is on, whatever the engine calls it', () => {
  test.each([
    ['reasoning_content', [{ reasoning_content: 'let me ' }, { reasoning_content: 'see' }, { content: 'Hi' }]],
    ['reasoning', [{ reasoning: 'let me ' }, { reasoning: 'see' }, { content: 'Hi' }]],
    ['both', [{ reasoning: 'let me see', reasoning_content: 'let me see' }, { content: 'Hi' }]],
    [
      'null beside the text',
      [
        { reasoning: 'let me see', content: null },
        { reasoning: null, content: 'Hi' },
      ],
    ],
    ['tags in one piece', [{ content: '<think>let me see</think>\n\nHi' }]],
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
  ])('%s', async (_, deltas) => {
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
  ])('in a whole reply: %s', async (_, message) => {
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
    ['a text that only begins like a tag', ['<thi', 's> is no tag']],
    ['a text that is nothing but the beginning of a tag', ['<thin', '']],
  ])('%s stays as it is', async (_, pieces) => {
    const { service } = await start(
      stream(...pieces.map((content, index) => engineChunk({ content }, index === 1 ? 'stop' : null)), DONE),
    );
    expect(await gather(service, THINKING)).toEqual({ content: pieces.join(''), thought: '' });
  });

  test('a tag after a named thought is text', async () => {
    const pieces = [{ reasoning: 'hm' }, { content: '<think>' }, { content: 'is a tag' }];
    const { service } = await start(
      stream(...pieces.map((delta) => engineChunk(delta)), engineChunk({}, 'stop'), DONE),
    );
    expect(await gather(service, THINKING)).toEqual({ content: '<think>is a tag', thought: 'hm' });
  });

  test('a call after a thought in tags keeps content null', async () => {
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
