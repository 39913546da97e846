import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMentionStripper } from '../../../../src/bot/platforms/wecom/strip-mention.ts';
import { anyText } from '../../../support/any-text.ts';

const SPACES = [' ', '\u00a0', '\u2005', '\u2006', '\u3000', '\t', '\n', '\u200b', '\ufeff', ' \u2005'];

describe('a mention at the start', () => {
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
  ])('%j', (text, rest) => {
    expect(robot.fromStart(text)).toBe(rest);
  });

  test('only slash words lose one at the end', () => {
    expect(robot.fromBothEnds('/new @RobotA ')).toBe('/new');
    expect(robot.fromBothEnds('/new @RobotAB')).toBe('/new @RobotAB');
  });

  test('a name with spaces, signs and Chinese', () => {
    expect(createMentionStripper('Robot A').fromStart('@Robot\u00a0A hi')).toBe('hi');
    expect(createMentionStripper('C++ (beta)').fromStart('@C++ (beta) hi')).toBe('hi');
    expect(createMentionStripper('小助手').fromStart('@小助手 你好')).toBe('你好');
    expect(createMentionStripper('小助手').fromStart('@小助手你好')).toBe('你好');
  });
});

describe('properties', () => {
  const name = fc
    .string({ unit: fc.constantFrom(...'abZ9 小助手.+*()[]$^|\\?{}-'), minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() !== '');
  const said = anyText({ maxLength: 60 }).filter((text) => !/^[\s\p{Z}\p{Cf}@]/u.test(text));

  test('the rest is kept exactly, whatever the name and the kind of space', () => {
    fc.assert(
      fc.property(name, fc.constantFrom(...SPACES), said, (botName, space, text) => {
        const stripper = createMentionStripper(botName);
        expect(stripper.fromStart(`@${botName.trim()}${space}${text}`)).toBe(text);
      }),
    );
  });

  test('a text that does not begin with a mention is left alone', () => {
    fc.assert(
      fc.property(name, said, (botName, text) => {
        expect(createMentionStripper(botName).fromStart(text)).toBe(text);
      }),
    );
  });

  test('a long run of spaces takes no time', () => {
    const startedMs = performance.now();
    createMentionStripper('Bot').fromBothEnds(`x${' '.repeat(500_000)}x@Bot`);
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});
