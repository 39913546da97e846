import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSlashCommand, SLASH_SPELLINGS, type SlashWord } from '../../src/platforms/slash-words.ts';

describe('slash words', () => {
  test.each(
    (Object.keys(SLASH_SPELLINGS) as SlashWord[]).flatMap((word) => SLASH_SPELLINGS[word].map((text) => [text, word])),
  )('%s is %s', (text, word) => {
    expect(readSlashCommand(text)).toEqual({ word, argument: '' });
  });

  test.each([
    [' /STOP \n', { word: 'stop', argument: '' }],
    ['／new', { word: 'new', argument: '' }],
    ['/停止', { word: 'stop', argument: '' }],
    ['/new  a topic ', { word: 'new', argument: 'a topic' }],
    ['/新对话 考试', { word: 'new', argument: '考试' }],
  ])('%j is read', (text, command) => {
    expect(readSlashCommand(text)).toEqual(command);
  });

  test.each([
    'stop',
    'help me',
    '停止 播放',
    '停止播放',
    '/unknown',
    '/stopp',
    '//stop',
    '/ stop',
    'say /stop',
    '',
    '/',
  ])('%j is an ordinary message', (text) => {
    expect(readSlashCommand(text)).toBeUndefined();
  });

  test('an English word counts only with its slash, whatever follows', () => {
    fc.assert(
      fc.property(fc.constantFrom('help', 'new', 'stop', 'retry'), fc.string(), (word, text) => {
        expect(readSlashCommand(`${word} ${text}`)).toBeUndefined();
        expect(readSlashCommand(`/${word} ${text}`)).toEqual({ word, argument: text.trim() });
      }),
    );
  });
});
