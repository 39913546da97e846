import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMentionStripper } from '../../../../src/bot/platforms/wecom/strip-mention.ts';
import { anyText } from '../../../support/any-text.ts';
import { measureProcessorTime } from '../../../support/processor-time.ts';

const SPACES = [' ', '\u00a0', '\u2005', '\u2006', '\u3000', '\t', '\n', '\u200b', '\ufeff', ' \u2005'];

describe('mention stripper', () => {
  const robot = createMentionStripper('RobotA');

  test.each([
    ['@RobotA hello', 'hello'],
    ['@RobotA\u2005hello', 'hello'],
    ['  @RobotA  hello ', 'hello '],
    ['@RobotA @RobotA hello', 'hello'],
    ['@RobotA,hello', ',hello'],
    ['@RobotA你好', '你好'],
    ['@RobotA', ''],
    ['hello @RobotA', 'hello @RobotA'],
    ['@Alice @RobotA hello', '@Alice @RobotA hello'],
    ['@RobotAB hello', '@RobotAB hello'],
    ['@RobotA-2 hello', '@RobotA-2 hello'],
    ['@robota hello', '@robota hello'],
    ['RobotA hello', 'RobotA hello'],
    ['@RobotA二号 @RobotA hello', '@RobotA二号 @RobotA hello'],
  ])('removes only mentions of the bot at the start: %j', (text, rest) => {
    expect(robot.fromStart(text)).toBe(rest);
  });

  test('removes a mention at the end only with fromBothEnds', () => {
    expect(robot.fromBothEnds('/new @RobotA ')).toBe('/new');
    expect(robot.fromBothEnds('/new @RobotAB')).toBe('/new @RobotAB');
  });

  test('accepts bot names with spaces, punctuation and Chinese', () => {
    expect(createMentionStripper('Robot A').fromStart('@Robot\u00a0A hi')).toBe('hi');
    expect(createMentionStripper('C++ (beta)').fromStart('@C++ (beta) hi')).toBe('hi');
    expect(createMentionStripper('小助手').fromStart('@小助手 你好')).toBe('你好');
    expect(createMentionStripper('小助手').fromStart('@小助手你好')).toBe('你好');
  });
});

describe('mention stripper with any bot name', () => {
  const name = fc
    .string({ unit: fc.constantFrom(...'abZ9 小助手.+*()[]$^|\\?{}-'), minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() !== '');
  const said = anyText({ maxLength: 60 }).filter((text) => !/^[\s\p{Z}\p{Cf}@]/u.test(text));

  test('keeps the rest of the text exactly, after any kind of space', () => {
    fc.assert(
      fc.property(name, fc.constantFrom(...SPACES), said, (botName, space, text) => {
        const stripper = createMentionStripper(botName);
        expect(stripper.fromStart(`@${botName.trim()}${space}${text}`)).toBe(text);
      }),
    );
  });

  test('leaves a text unchanged that does not begin with a mention', () => {
    fc.assert(
      fc.property(name, said, (botName, text) => {
        expect(createMentionStripper(botName).fromStart(text)).toBe(text);
      }),
    );
  });

  test('handles 500,000 spaces in under 500 ms', () => {
    const spentMs = measureProcessorTime();
    createMentionStripper('Bot').fromBothEnds(`x${' '.repeat(500_000)}x@Bot`);
    expect(spentMs()).toBeLessThan(500);
  });
});
