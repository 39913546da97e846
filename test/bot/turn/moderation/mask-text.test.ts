import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GrowingMask, maskText, type MaskWords } from '../../../../src/bot/turn/moderation/mask-text.ts';
import { MASK_KINDS } from '../../../../src/bot/domain/mask-kinds.ts';
import { Thought } from '../../../../src/bot/turn/answer/reasoning.ts';
import { measureProcessorTime } from '../../../support/processor-time.ts';
import { tries } from '../../../support/tries.ts';

const WORDS: MaskWords = { 'id-number': '<ID>', phone: '<PHONE>', card: '<CARD>', email: '<MAIL>' };
const RULES = { kinds: new Set(MASK_KINDS), words: WORDS };
const masked = (text: string) => maskText(text, RULES);

const ID = '11010519491231002X';
const CARD = '4111111111111111';
const NUMBERS = [
  ...[ID, '440524188001010014'.replace('1880', '1980').slice(0, 17) + '4', '13812345678', '+86 138-1234-5678'],
  ...['8613912345678', '0086 13912345678', CARD, '4111 1111 1111 1111', '5500-0055-5555-5559', '3782 822463 10005'],
  ...['a.b+c@mail.example.cn', '13812345678@163.com', '１３８１２３４５６７８', '6222020000000000000', '138 1234 5678'],
  ...['138\u20111234\u20115678', '１３８－１２３４－５６７８', '110105\u00A01949 1231 002X', 'ａ.b＠mail．example.cn'],
];

describe('masking [masking]', () => {
  test.each([
    [ID, '<ID>'],
    ['身份证11010519491231002x。', '身份证<ID>。'],
    ['110105 19491231 002X', '<ID>'],
    ['手机13812345678，谢谢', '手机<PHONE>，谢谢'],
    ['+86 138-1234-5678', '<PHONE>'],
    ['call 0086 13912345678.', 'call <PHONE>.'],
    ['8613912345678', '<PHONE>'],
    ['１３８１２３４５６７８', '<PHONE>'],
    ['138\u20111234\u20115678, 138\u00A01234\u202F5678 and 138–1234–5678', '<PHONE>, <PHONE> and <PHONE>'],
    ['１３８－１２３４－５６７８，１３８　１２３４　５６７８', '<PHONE>，<PHONE>'],
    ['１１０１０５１９４９１２３１００２Ｘ', '<ID>'],
    ['110105 1949 1231 002X or 1101 0519 4912 3100 2x', '<ID> or <ID>'],
    ['4111\u00A01111\u00A01111\u00A01111', '<CARD>'],
    ['ａ.b＠mail．example.cn', '<MAIL>'],
    ['13812345678/13912345678 and 13712345678 13612345678', '<PHONE>/<PHONE> and <PHONE> <PHONE>'],
    ['1 2 13812345678', '1 2 <PHONE>'],
    [`card ${CARD}!`, 'card <CARD>!'],
    ['4111 1111 1111 1111', '<CARD>'],
    ['138.1234.5678, 138．1234．5678 and 4111.1111.1111.1111.', '<PHONE>, <PHONE> and <CARD>.'],
    ['5500-0055-5555-5559', '<CARD>'],
    ['3782 822463 10005', '<CARD>'],
    ['Write to a.b+c@mail.example.cn.', 'Write to <MAIL>.'],
    [`13812345678${'.'.repeat(60)}`, `<PHONE>${'.'.repeat(60)}`],
  ])('replaces the numbers of %j', (text, expected) => {
    expect(masked(text)).toBe(expected);
  });

  test.each([
    ['110105194912310021'],
    ['110105194913310023'],
    ['12812345678'],
    ['138123456789'],
    ['4111111111111112'],
    ['x13812345678'],
    ['3.13812345678'],
    ['13812345678.5'],
    ['192.168.100.200'],
    ['0.13812345678'],
    ['2026-11-29 19:30:00'],
    ['12 345 678 90'],
    ['room 4111, house 1111'],
    ['a@b'],
    [''],
  ])('leaves %j', (text) => {
    expect(masked(text)).toBe(text);
  });

  test('masks only the kinds that are set, and the phone number in an address', () => {
    const phones = { kinds: new Set(['phone'] as const), words: WORDS };
    expect(maskText(`${ID} 13812345678 a@b.cn`, phones)).toBe(`${ID} <PHONE> a@b.cn`);
    expect(maskText('13812345678@163.com', phones)).toBe('<PHONE>@163.com');
  });

  test('gives the same for a growing text however it is cut, and never shows a part', () => {
    const part = fc.oneof(
      fc.constantFrom(...NUMBERS),
      fc.constantFrom(' ', '-', '.', '，', '+', '\n', '@', 'x', 'X', '86', '1380', '12', '号码', '  ', '__'),
      fc.string({ maxLength: 4 }),
      fc.nat({ max: 99_999_999 }).map(String),
      fc.constantFrom('a'.repeat(400), '7'.repeat(330), 'é', '😀'),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 14 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (parts, sizes) => {
          const text = parts.join('');
          const whole = masked(text);
          const growing = new GrowingMask(RULES);
          for (let end = 0; end < text.length;) {
            end = Math.min(text.length, end + (sizes[end % sizes.length] ?? 1));
            // A beginning of the final text contains no part of what the final text masks.
            expect(whole.startsWith(growing.mask(text.slice(0, end)))).toBe(true);
          }
          expect(growing.mask(text, true)).toBe(whole);
          expect(masked(whole)).toBe(whole);
        },
      ),
      { numRuns: tries(10_000) },
    );
  });

  test('begins again with a text that was taken back', () => {
    const growing = new GrowingMask(RULES);
    expect(growing.mask('It is 13812345678. ')).toBe('It is <PHONE>. ');
    expect(growing.mask('No 1381234')).toBe('No ');
    expect(growing.mask('No 13812345678', true)).toBe('No <PHONE>');
  });

  test('masks the reasoning of a model, however its stream is cut', () => {
    const thought = new Thought(true, 'en', RULES);
    const shown = ['Ask 13', '8123', '45', '678', ' or ', CARD.slice(0, 9), CARD.slice(9)].map((piece) => {
      thought.add(piece);
      return thought.liveThinking();
    });
    expect(shown.join('\n')).not.toMatch(/\d/);
    expect(thought.finalView().thinking).toBe('Ask <PHONE> or <CARD>');
  });

  test.each([['1 '], ['1'], ['a'], ['1-'], ['@'], ['13812345678 '], ['a.'], ['+86 '], ['４']])(
    'takes linear time for %j without end, also in small pieces',
    (piece) => {
      const text = piece.repeat(Math.ceil(400_000 / piece.length));
      const spentMs = measureProcessorTime();
      masked(text);
      const growing = new GrowingMask(RULES);
      for (let end = 0; end < text.length; end += 4_000) growing.mask(text.slice(0, end));
      expect(spentMs()).toBeLessThan(4_000);
    },
  );
});
