import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChunkReader } from '../../../../src/bot/model/stream/chunk-reader.ts';
import { readChunk } from '../../../../src/bot/model/stream/completion-chunk.ts';
import { readPayload } from '../../../../src/shared/models/stream-payload.ts';
import { anyText } from '../../../support/any-text.ts';
import { tries } from '../../../support/tries.ts';

/** Texts that JSON escapes, or that look like its structure. */
const text = fc.oneof(
  anyText({ maxLength: 8 }),
  fc.constantFrom('word ', '"', '\\', '\n', '\u2028', '你好', '"content":"x"', '},"finish_reason":null', '\ud83d'),
);
const spaced = (value: object, space: boolean) => (space ? JSON.stringify(value, null, 1) : JSON.stringify(value));
const escaped = (json: string) =>
  json.replace(/[a-z](?=[^"]*"[^"]*$)/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);

const delta = fc.oneof(
  { weight: 6, arbitrary: fc.record({ content: text }) },
  fc.record({ role: fc.constant('assistant'), content: text }),
  fc.record({ reasoning_content: text, content: fc.constantFrom('', null) }),
  fc.record({ content: text, reasoning_content: text }),
  fc.constant({}),
);
const payload = fc
  .record({
    id: fc.constantFrom('a', 'b', '"content":"y"'),
    delta,
    reason: fc.constantFrom(null, null, null, 'stop'),
    beside: fc.option(fc.record({ content: text }), { nil: undefined, freq: 8 }),
    isBesideFirst: fc.boolean(),
    usage: fc.option(fc.constant({ prompt_tokens: 1, completion_tokens: 2 }), { nil: undefined, freq: 8 }),
    isSpaced: fc.boolean(),
    isEscaped: fc.boolean(),
  })
  .map(({ id, delta: said, reason, beside, isBesideFirst, usage, isSpaced, isEscaped }) => {
    const logprobs = beside ? { logprobs: beside } : {};
    const choice = { index: 0, ...(isBesideFirst ? logprobs : {}), delta: said, finish_reason: reason, ...logprobs };
    const json = spaced({ id, choices: [choice], ...(usage ? { usage } : {}) }, isSpaced);
    return isEscaped ? escaped(json) : json;
  });

function alone(data: string): ReturnType<ChunkReader['read']> {
  const body = readPayload(data);
  return body === 'done' ? body : readChunk(body);
}

test('reads each chunk of a stream as if it were alone [strict-streams]', () => {
  fc.assert(
    fc.property(fc.array(payload, { minLength: 2, maxLength: 12 }), (payloads) => {
      const reader = new ChunkReader();
      for (const one of payloads) expect(reader.read(one)).toEqual(alone(one));
    }),
    { numRuns: tries(600) },
  );
});

test('never takes the text of another field with the same name for the answer', () => {
  const reader = new ChunkReader();
  const said = (content: string, beside: string) =>
    `{"choices":[{"delta":{"content":"${content}"},"logprobs":{"content":"${beside}"}}]}`;
  expect(reader.read(said('\\u0048i', 'Hi'))).toMatchObject({ text: 'Hi' });
  expect(reader.read(said('\\u0048i', 'Yo'))).toMatchObject({ text: 'Hi' });
});

test('rejects a truncated chunk after others exactly as it does alone', () => {
  const reader = new ChunkReader();
  const whole = '{"choices":[{"delta":{"content":"one"}}]}';
  reader.read(whole);
  expect(() => reader.read(whole.slice(0, -2))).toThrow(expect.objectContaining({ code: 'chat_bad_stream' }));
  expect(reader.read(whole.replace('one', 'two'))).toMatchObject({ text: 'two' });
});
