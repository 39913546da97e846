import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChatError } from '../../../../src/bot/model/chat-error.ts';
import { DEFAULT_CHAT_LIMITS } from '../../../../src/bot/model/chat-limits.ts';
import type { ChatEvent } from '../../../../src/bot/model/chat-types.ts';
import { StreamDecoder } from '../../../../src/bot/model/stream/stream-decoder.ts';
import { READING, summaryOf } from '../chat-fixture.ts';
import { chunk, sse } from '../scripted-chat-server.ts';
import { anyText } from '../../../support/any-text.ts';
import { tries } from '../../../support/tries.ts';

const TEXT = 'Grüße, 世界 👩‍💻 – "quoted" \u0000 end';
const RECORDED = Buffer.from(
  [
    ': warming up\n\n',
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'I think 思考' }),
    ...[...TEXT].map((content) => chunk({ content })),
    sse({ choices: [] }),
    chunk({
      tool_calls: [{ index: 0, id: 'call-7', type: 'function', function: { name: 'clock', arguments: '{"zo' } }],
    }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: 'ne":"UTC"}' } }] }),
    chunk({}, 'tool_calls'),
    sse({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } }),
    sse('[DONE]'),
  ].join(''),
);

function decode(pieces: readonly Buffer[]): ChatEvent[] {
  const decoder = new StreamDecoder(READING);
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.end()];
}

function decodeText(text: string): ChatEvent[] {
  return decode([Buffer.from(text)]);
}

/** Joins the text deltas, so that the split of the stream makes no difference. */
function joined(events: readonly ChatEvent[]): unknown {
  return { ...summaryOf(events), others: events.filter(({ type }) => type !== 'text' && type !== 'reasoning') };
}

const WHOLE = joined(decode([RECORDED]));

describe('a recorded stream', () => {
  test('is read completely', () => {
    expect(WHOLE).toEqual({
      text: TEXT,
      reasoning: 'I think 思考',
      end: 'tool_calls',
      others: [
        { type: 'usage', promptTokens: 5, completionTokens: 9 },
        { type: 'tool-call', index: 0, callId: 'call-7', name: 'clock', argumentsJson: '{"zone":"UTC"}' },
        { type: 'end', reason: 'tool_calls' },
      ],
    });
  });

  test('is read the same byte by byte', () => {
    expect(joined(decode([...RECORDED].map((byte) => Buffer.from([byte]))))).toEqual(WHOLE);
  });

  test('is read the same with any split and line ending, and with or without the space [strict-streams]', () => {
    const splits = fc.array(fc.integer({ min: 0, max: RECORDED.length }), { maxLength: 12 });
    const lineEnds = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(splits, lineEnds, fc.boolean(), (cuts, lineEnd, hasSpace) => {
        const text = RECORDED.toString('utf8').replaceAll('\n', lineEnd);
        const bytes = Buffer.from(hasSpace ? text : text.replaceAll('data: ', 'data:'));
        const at = [0, ...cuts.toSorted((left, right) => left - right), bytes.length];
        expect(joined(decode(at.slice(1).map((end, index) => bytes.subarray(at[index], end))))).toEqual(WHOLE);
      }),
      { numRuns: tries(300) },
    );
  });

  test('cut at any offset yields a prefix of the text without broken characters, and ends as truncated', () => {
    const finishAt = RECORDED.indexOf('"finish_reason"');
    for (let offset = 0; offset < RECORDED.length; offset += 1) {
      const events = decode([RECORDED.subarray(0, offset)]);
      const { text, end } = summaryOf(events);
      expect(TEXT.startsWith(text)).toBe(true);
      if (offset < finishAt) expect(end).toBe('truncated');
      if (end === 'truncated') expect(events.some(({ type }) => type === 'tool-call')).toBe(false);
    }
    expect(summaryOf(decode([RECORDED.subarray(0, -' [DONE]\n\n'.length)])).end).toBe('tool_calls');
  });
});

describe('variants of services', () => {
  test('a character split over two chunks arrives whole', () => {
    const events = decodeText(
      `data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\n`,
    );
    expect(events.slice(0, 1)).toEqual([{ type: 'text', delta: 'a😀b' }]);
  });

  test('text in one piece of bytes is one event, and events of other kinds keep their place', () => {
    const piece = chunk({ content: 'a' }) + chunk({ content: 'b' }) + chunk({ reasoning_content: 'hm' });
    expect(decodeText(`${piece}${chunk({ content: 'c' })}${chunk({ content: 'd' }, 'stop')}`)).toEqual([
      { type: 'text', delta: 'ab' },
      { type: 'reasoning', delta: 'hm' },
      { type: 'text', delta: 'cd' },
      { type: 'end', reason: 'stop' },
    ]);
  });

  test('an event may span several data lines', () => {
    expect(
      summaryOf(decodeText('data: {"choices":[{"delta":\ndata: {"content":"x"},\ndata:"finish_reason":"stop"}]}\n\n')),
    ).toMatchObject({
      text: 'x',
      end: 'stop',
    });
  });

  test('lines without blank lines between them are separate events, as the interface allows', () => {
    const stream = `${chunk({ content: 'a' })}${chunk({ content: 'b' }, 'stop')}${sse('[DONE]')}`.replaceAll(
      '\n\n',
      '\n',
    );
    expect(summaryOf(decodeText(stream))).toMatchObject({ text: 'ab', end: 'stop' });
  });

  test('[DONE] alone or a finish reason alone completes an answer', () => {
    expect(summaryOf(decodeText(chunk({ content: 'a' }) + sse('[DONE]'))).end).toBe('stop');
    expect(summaryOf(decodeText(chunk({ content: 'a' }, 'length'))).end).toBe('length');
    expect(summaryOf(decodeText(chunk({ content: 'a' }))).end).toBe('truncated');
  });

  test('an unknown finish reason is complete and recorded', () => {
    const decoder = new StreamDecoder(READING);
    decoder.push(Buffer.from(chunk({ content: 'a' }, 'eos')));
    expect([decoder.hasUnknownReason, summaryOf(decoder.end()).end]).toEqual([true, 'other']);
  });

  test('tool calls without an index are distinguished by their ids', () => {
    const piece = (id: string | undefined, args: string) =>
      chunk({ tool_calls: [{ id, function: { name: 'f', arguments: args } }] });
    const events = decodeText(piece('a', '{') + piece(undefined, '}') + piece('b', '[]') + chunk({}, 'tool_calls'));
    expect(events.filter(({ type }) => type === 'tool-call')).toEqual([
      { type: 'tool-call', index: 0, callId: 'a', name: 'f', argumentsJson: '{}' },
      { type: 'tool-call', index: 1, callId: 'b', name: 'f', argumentsJson: '[]' },
    ]);
  });

  test('other choices, unknown fields, null errors and a byte order mark are ignored', () => {
    const odd = {
      error: null,
      extra: [1],
      choices: [
        { index: 1, delta: { content: 'no' } },
        { index: 0, delta: { content: 'yes', x: {} } },
      ],
    };
    expect(summaryOf(decodeText(`\ufeff${sse(odd)}id: 4\nretry: 5\nnonsense\n\n`)).text).toBe('yes');
  });
});

describe('an invalid stream', () => {
  const codeOf = (text: string): string => {
    try {
      decodeText(text);
      return 'none';
    } catch (error) {
      expect(error).toBeInstanceOf(ChatError);
      return (error as ChatError).code;
    }
  };

  test.each([
    ['broken JSON', sse('{"choices":[') + '\n', 'chat_bad_stream'],
    ['an error object', sse({ error: { message: 'secret words' } }), 'chat_server_error'],
    ['an error object with a status', sse({ error: { code: 429 } }), 'chat_rate_limited'],
    ['an error object with a type', sse({ error: { type: 'rate_limit_exceeded' } }), 'chat_rate_limited'],
    ['an error event', 'event: error\ndata: {"message":"secret words"}\n\n', 'chat_server_error'],
    ['an endless line', `data: ${'x'.repeat(DEFAULT_CHAT_LIMITS.maxLineChars + 1)}`, 'chat_bad_stream'],
    ['an endless event', `data: {\n`.repeat(DEFAULT_CHAT_LIMITS.maxLineChars / 2 + 1), 'chat_bad_stream'],
  ])('%s', (_name, stream, code) => {
    expect(codeOf(stream)).toBe(code);
  });

  test('yields the text before an error in the same bytes first', () => {
    const decoder = new StreamDecoder(READING);
    expect(decoder.push(Buffer.from(chunk({ content: 'kept' }) + sse({ error: {} })))).toEqual([
      { type: 'text', delta: 'kept' },
    ]);
    expect(() => decoder.push(Buffer.from('\n'))).toThrow(ChatError);
  });

  test('with text beyond the cap is cut at a whole character and ends with the reason length', () => {
    const decoder = new StreamDecoder({ ...READING, maxAnswerChars: 4 });
    const events = decoder.push(Buffer.from(chunk({ content: 'abc😀' })));
    expect([events, decoder.isDone, decoder.end()]).toEqual([
      [{ type: 'text', delta: 'abc' }],
      true,
      [{ type: 'end', reason: 'length' }],
    ]);
  });

  test('only ever throws a ChatError, and every delta is well-formed', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((json) => Buffer.from(sse(json))),
      anyText().map((content) => Buffer.from(chunk({ content }))),
      fc.json().map((json) => Buffer.from(sse(`{"choices":[{"delta":${json}}]}`))),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        try {
          for (const event of decode(pieces))
            if (event.type === 'text') expect(Buffer.from(event.delta).toString()).toBe(event.delta);
        } catch (error) {
          expect(error).toBeInstanceOf(ChatError);
          expect((error as ChatError).cause).toBeUndefined();
        }
      }),
      { numRuns: tries(100) },
    );
  });
});
