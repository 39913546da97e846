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
    ['/model svc-max', { word: 'model', argument: 'svc-max' }],
    ['/think High', { word: 'think', argument: 'High' }],
    ['思考 最大', { word: 'think', argument: '最大' }],
    ['模型 svc-max', { word: 'model', argument: 'svc-max' }],
    ['语言 中文', { word: 'lang', argument: '中文' }],
    ['/思考 什么', { word: 'think', argument: '什么' }],
  ])('%j is read', (text, command) => {
    expect(readSlashCommand(text)).toEqual(command);
  });

  test.each([
    'stop',
    'help me',
    '停止 播放',
    '停止播放',
    '思考 人生的意义',
    '思考 高低',
    '模型 是什么',
    '语言 学习',
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
