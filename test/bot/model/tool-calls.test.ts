import { READING } from './chat-fixture.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { StreamDecoder, WholeDecoder } from '../../../src/bot/model/stream/stream-decoder.ts';
import { chunk, sse } from './scripted-chat-server.ts';

type Called = [id: string, name: string, argumentsJson: string];

interface Piece {
  index?: number;
  id?: string;
  name?: string;
  arguments?: unknown;
}

function pieces(...given: Piece[]): string {
  const calls = given.map(({ index, id, ...called }) => ({ index, id, type: 'function', function: called }));
  return chunk({ tool_calls: calls });
}

function callsOf(stream: string): Called[] {
  const decoder = new StreamDecoder(READING);
  const events = [...decoder.push(Buffer.from(stream)), ...decoder.end()];
  return events.flatMap((event): Called[] =>
    event.type === 'tool-call' ? [[event.callId, event.name, event.argumentsJson]] : [],
  );
}

const END = chunk({}, 'tool_calls');

describe('tool calls as real engines send them [reply] [strict-streams]', () => {
  test.each<[what: string, stream: string, calls: Called[]]>([
    [
      'split arguments',
      pieces({ index: 0, id: 'a', name: 'f', arguments: '' }) +
        pieces({ index: 0, arguments: '{"n"' }) +
        pieces({ index: 0, arguments: ':1}' }),
      [['a', 'f', '{"n":1}']],
    ],
    [
      'several indexes interleaved, in one chunk and in many',
      pieces({ index: 0, id: 'a', name: 'f', arguments: '{' }, { index: 1, id: 'b', name: 'g', arguments: '[' }) +
        pieces({ index: 1, arguments: ']' }) +
        pieces({ index: 0, arguments: '}' }),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'empty ids',
      pieces({ index: 0, id: '', name: 'f', arguments: '{}' }) +
        pieces({ index: 1, id: '', name: 'g', arguments: '{}' }),
      [
        ['call-0', 'f', '{}'],
        ['call-1', 'g', '{}'],
      ],
    ],
    [
      'the id and the name repeated in each piece',
      pieces({ index: 0, id: 'a', name: 'f', arguments: '{' }) +
        pieces({ index: 0, id: 'a', name: 'f', arguments: '}' }),
      [['a', 'f', '{}']],
    ],
    ['arguments as an object', pieces({ index: 0, id: 'a', name: 'f', arguments: { n: 1 } }), [['a', 'f', '{"n":1}']]],
    [
      'one index for all calls',
      pieces({ index: 0, id: 'a', name: 'f', arguments: '{' }) +
        pieces({ index: 0, arguments: '}' }) +
        pieces({ index: 0, id: 'b', name: 'g', arguments: '[' }) +
        pieces({ index: 0, arguments: ']' }),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'no index',
      pieces({ id: 'a', name: 'f', arguments: '{' }) +
        pieces({ arguments: '}' }) +
        pieces({ id: 'b', name: 'g', arguments: '[]' }),
      [
        ['a', 'f', '{}'],
        ['b', 'g', '[]'],
      ],
    ],
    [
      'neither index nor id',
      pieces({ name: 'f', arguments: '{}' }) + pieces({ name: 'f', arguments: '[]' }),
      [
        ['call-0', 'f', '{}'],
        ['call-1', 'f', '[]'],
      ],
    ],
    [
      'the name after the id',
      pieces({ index: 0, id: 'a' }) + pieces({ index: 0, name: 'f', arguments: '{}' }),
      [['a', 'f', '{}']],
    ],
    ['a call without a name', pieces({ index: 0, id: 'a', arguments: '{}' }), []],
  ])('%s', (_, stream, calls) => expect(callsOf(stream + END + sse('[DONE]'))).toEqual(calls));

  test('a reply that is not streamed, whose calls have neither index nor id', () => {
    const decoder = new WholeDecoder(READING);
    const calls = ['f', 'g'].map((name) => ({ function: { name, arguments: {} } }));
    decoder.push(Buffer.from(JSON.stringify({ choices: [{ message: { content: null, tool_calls: calls } }] })));
    expect(decoder.end().slice(0, 2)).toMatchObject([
      { callId: 'call-0', name: 'f', argumentsJson: '{}' },
      { callId: 'call-1', name: 'g', argumentsJson: '{}' },
    ]);
  });

  test('calls with an index are complete however they are split and interleaved', () => {
    const call = fc.record({ id: fc.string({ maxLength: 3 }), json: fc.json() });
    const order = fc.array(fc.nat(), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.uniqueArray(call, { selector: ({ id }) => id, minLength: 1, maxLength: 5 }),
        order,
        (given, picks) => {
          let stream = pieces(...given.map(({ id }, index) => ({ index, id, name: `f${index}` })));
          const left = given.map(({ json }) => json.match(/[\s\S]{1,4}/g) ?? []);
          for (const pick of [
            ...picks,
            ...given.flatMap(({ json }, index) => Array<number>(json.length).fill(index)),
          ]) {
            const index = pick % given.length;
            const next = left[index]?.shift();
            if (next !== undefined) stream += pieces({ index, arguments: next });
          }
          expect(callsOf(stream + END)).toEqual(
            given.map(({ id, json }, index) => [id === '' ? `call-${index}` : id, `f${index}`, json]),
          );
        },
      ),
    );
  });
});
