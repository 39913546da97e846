import { expect, test } from '@jest/globals';
import { CHINESE_SPELLINGS, SLASH_COMMANDS } from '../../src/simulator/offered-words.ts';
import { SLASH_SPELLINGS } from '../../src/bot/domain/slash-words.ts';

test('the composer offers exactly the slash words of the bot', () => {
  const known = Object.values(SLASH_SPELLINGS).map(([english, chinese]) => [english, `/${chinese}`]);
  const offered = SLASH_COMMANDS.map(({ word }) => [word, CHINESE_SPELLINGS[word]]);
  expect(offered.sort()).toEqual(known.sort());
});
