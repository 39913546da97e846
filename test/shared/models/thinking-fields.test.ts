import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { plainModel, type ModelEntry } from '../../../src/shared/models/model-entry.ts';
import { levelFor, thinkingFields, type Thinking } from '../../../src/shared/models/thinking-fields.ts';

const CHOICES: Thinking[] = ['off', 'low', 'high', 'max'];

function asked(fields: Partial<ModelEntry>): unknown[] {
  return CHOICES.map((thinking) => thinkingFields({ ...plainModel('a'), ...fields }, thinking));
}

describe('the request fields for thinking in each dialect', () => {
  test.each<[dialect: string, fields: Partial<ModelEntry>, offLowHighMax: unknown[]]>([
    ['none', { thinking: 'none', levels: ['low'] }, [{}, {}, {}, {}]],
    [
      'an object',
      { thinking: 'thinking' },
      [{ thinking: { type: 'disabled' } }, ...Array(3).fill({ thinking: { type: 'enabled' } })],
    ],
    [
      'an object and a level',
      { thinking: 'thinking', levels: ['low', 'high', 'max'] },
      [
        { thinking: { type: 'disabled' } },
        ...['low', 'high', 'max'].map((level) => ({ thinking: { type: 'enabled' }, reasoning_effort: level })),
      ],
    ],
    [
      'a level',
      { thinking: 'reasoning_effort', levels: ['minimal', 'low', 'medium', 'high'] },
      [{}, ...['minimal', 'high', 'high'].map((level) => ({ reasoning_effort: level }))],
    ],
    [
      'a level, including none',
      { thinking: 'reasoning_effort', levels: ['low', 'medium', 'xhigh'], hasNoneLevel: true },
      ['none', 'low', 'medium', 'xhigh'].map((level) => ({ reasoning_effort: level })),
    ],
    ['a switch', { thinking: 'enable_thinking' }, [false, true, true, true].map((on) => ({ enable_thinking: on }))],
    [
      'a switch of the template',
      { thinking: 'chat_template_kwargs' },
      [false, true, true, true].map((on) => ({ chat_template_kwargs: { enable_thinking: on } })),
    ],
  ])('%s', (_, fields, expected) => {
    expect(asked(fields)).toEqual(expected);
  });
});

test.each([
  [[], undefined, undefined, undefined],
  [['on'], 'on', 'on', 'on'],
  [['low', 'deep'], 'low', 'deep', 'deep'],
  [['a', 'b', 'c'], 'a', 'b', 'c'],
  [['a', 'high', 'c', 'd'], 'a', 'high', 'd'],
] as const)('of the levels %j low, high and max are %s, %s and %s', (levels, low, high, max) => {
  expect([levelFor(levels, 'low'), levelFor(levels, 'high'), levelFor(levels, 'max')]).toEqual([low, high, max]);
});

test('only levels of the engine are sent, and a higher effort never gets a lower level', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 }), (levels) => {
      const places = (['low', 'high', 'max'] as const).map((wish) => levels.indexOf(levelFor(levels, wish) ?? ''));
      expect(places.every((place) => place >= 0)).toBe(true);
      expect([...places].sort((left, right) => left - right)).toEqual(places);
    }),
  );
});
