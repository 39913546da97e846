import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  readOwnCommand,
  readSlashCommand,
  SLASH_SPELLINGS,
  type SlashCommandName,
} from '../../../src/bot/domain/slash-words.ts';
import { AUTO_WORDS, LANGUAGE_WORDS } from '../../../src/bot/turn/commands/argument-words.ts';

const SPELLINGS = (Object.keys(SLASH_SPELLINGS) as SlashCommandName[]).flatMap((word) =>
  SLASH_SPELLINGS[word].map((spelling) => ({ word, spelling: spelling.replace(/^\//, '') })),
);

describe('slash commands', () => {
  test('are read after either slash, in any case and among any spaces, with their argument', () => {
    const anySpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u3000', '\u00a0'), maxLength: 3 });
    const anyArgument = fc
      .string({ unit: fc.constantFrom('a', '1', ' ', '/', '中'), maxLength: 8 })
      .map((text) => text.trim());
    fc.assert(
      fc.property(
        fc.constantFrom(...SPELLINGS),
        fc.constantFrom('/', '／'),
        fc.boolean(),
        anySpace,
        anyArgument,
        (known, slash, isUpper, space, argument) => {
          const written = isUpper ? known.spelling.toUpperCase() : known.spelling;
          const text = `${space}${slash}${written}${argument === '' ? space : ` ${argument}${space}`}`;
          expect(readSlashCommand(text)).toEqual({ word: known.word, argument });
        },
      ),
    );
  });

  test.each(SPELLINGS)('need a slash before $spelling, except in Chinese and alone', ({ word, spelling }) => {
    const isChinese = /\p{Script=Han}/u.test(spelling);
    expect(readSlashCommand(`/${spelling}`)).toEqual({ word, argument: '' });
    expect(readSlashCommand(spelling)).toEqual(isChinese ? { word, argument: '' } : undefined);
    expect(readSlashCommand(`${spelling} 一下`)).toBeUndefined();
  });

  test.each([
    ['/think High', { word: 'think', argument: 'High' }],
    ['思考 最大', { word: 'think', argument: '最大' }],
    ['模型 svc-max', { word: 'model', argument: 'svc-max' }],
    ['语言 中文', { word: 'lang', argument: '中文' }],
  ])('reads %j with its argument', (text, command) => {
    expect(readSlashCommand(text)).toEqual(command);
  });

  test.each(
    [
      ...['模型', '思考', '语言'].flatMap((command) => [...AUTO_WORDS].map((word) => [command, word] as const)),
      ...[...LANGUAGE_WORDS.keys()].map((word) => ['语言', word] as const),
    ].map(([command, argument]) => ({ command, argument })),
  )('read “$command $argument” without a slash', ({ command, argument }) => {
    expect(readSlashCommand(`${command} ${argument}`)).toEqual(readSlashCommand(`/${command} ${argument}`));
  });

  test.each([
    'help me',
    '停止 播放',
    '停止播放',
    '思考 人生的意义',
    '思考 高低',
    '模型 是什么',
    '语言 学习',
    '/unknown',
    '/stopp',
    '/help-me',
    '/constructor',
    '/toString',
    '//stop',
    '/ stop',
    '-/stop',
    'say /stop',
    '',
    '/',
  ])('treats %j as an ordinary message', (text) => {
    expect(readSlashCommand(text)).toBeUndefined();
  });

  test('are not read from a text that begins with another word', () => {
    const known = new Set(SPELLINGS.map(({ spelling }) => spelling));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const [name = ''] = text
          .trim()
          .replace(/^[/／]/, '')
          .split(/\s/);
        fc.pre(!known.has(name.toLowerCase()));
        expect(readSlashCommand(text)).toBeUndefined();
      }),
    );
  });

  test('need a slash in English, whatever text follows', () => {
    fc.assert(
      fc.property(fc.constantFrom('help', 'new', 'stop', 'retry'), fc.string(), (word, text) => {
        expect(readSlashCommand(`${word} ${text}`)).toBeUndefined();
        expect(readSlashCommand(`/${word} ${text}`)).toEqual({ word, argument: text.trim() });
      }),
    );
  });
});

describe('bare English commands on platforms that reserve the slash', () => {
  const BARE = { models: ['svc-plus', 'svc-max', 'Qwen3:8b'] };
  const WORDS = (Object.keys(SLASH_SPELLINGS) as SlashCommandName[]).map((word) => ({
    word,
    typed: SLASH_SPELLINGS[word][0]?.slice(1) ?? '',
  }));
  const anyWord = fc.constantFrom(...WORDS);
  const anyCase = fc.constantFrom(
    (text: string) => text,
    (text: string) => text.toUpperCase(),
    (text: string) => text.charAt(0).toUpperCase() + text.slice(1),
  );
  const anyBlank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u00a0'), maxLength: 2 });
  const known = [
    ...['svc-plus', 'SVC-MAX', 'qwen3:8b', 'auto', 'default'].map((argument) => ({ word: 'model', argument })),
    ...['off', 'low', 'High', 'max', 'auto'].map((argument) => ({ word: 'think', argument })),
    ...['en', 'ZH', 'english', 'Chinese', 'auto'].map((argument) => ({ word: 'lang', argument })),
  ];

  test('are read alone, in any case, with surrounding blanks and one end mark', () => {
    fc.assert(
      fc.property(
        anyWord,
        anyCase,
        anyBlank,
        anyBlank,
        fc.constantFrom('', '.', '!', '。'),
        (one, written, before, after, end) => {
          const text = `${before}${written(one.typed)}${end}${after}`;
          expect(readSlashCommand(text, BARE)).toEqual({ word: one.word, argument: '' });
          expect(readSlashCommand(text)).toBeUndefined();
        },
      ),
    );
  });

  test('accept one known argument if they select a value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.constantFrom('', '.', '!'), ({ word, argument }, end) => {
        expect(readSlashCommand(`${word} ${argument}${end}`, BARE)).toEqual({ word, argument: `${argument}${end}` });
      }),
    );
  });

  test('are ordinary messages if followed by anything else', () => {
    const isKnown = (word: string, text: string) =>
      known.some(
        (one) => one.word === word && one.argument.toLowerCase() === text.trim().replace(/[.!]$/, '').toLowerCase(),
      );
    fc.assert(
      fc.property(anyWord, fc.string({ minLength: 1 }), ({ word, typed }, more) => {
        fc.pre(more.trim() !== '' && !isKnown(word, more));
        expect(readSlashCommand(`${typed} ${more}`, BARE)).toBeUndefined();
      }),
    );
  });

  test('are not read from a text that begins with another word', () => {
    const names = new Set(WORDS.map(({ typed }) => typed));
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z' -]{0,30}$/), (text) => {
        fc.pre(!names.has(text.trim().split(/\s/)[0] ?? ''));
        expect(readSlashCommand(text, BARE)).toBeUndefined();
      }),
    );
  });

  test.each([
    'help me write a letter',
    'help?',
    'stop doing that',
    'new ideas',
    'new york',
    'model checking',
    'model svc-unknown',
    'model svc-max or svc-plus',
    'think harder',
    'think about max',
    'lang fr',
    'export taxes',
    'forget it',
    'usage of commas',
    'helpful',
    'whoami root',
    'please stop',
    '`help`',
  ])('treats %j as a question', (text) => {
    expect(readSlashCommand(text, BARE)).toBeUndefined();
  });

  test('do not change how commands with a slash are read', () => {
    expect(readSlashCommand('/help me', BARE)).toEqual({ word: 'help', argument: 'me' });
    expect(readSlashCommand('停止', BARE)).toEqual({ word: 'stop', argument: '' });
    expect(readSlashCommand('停止 播放', BARE)).toBeUndefined();
  });

  test.each([
    ['help', { word: 'help', argument: '' }],
    ['/help', { word: 'help', argument: '' }],
    ['think harder', { word: 'think', argument: 'harder' }],
    ['model gpt-9', { word: 'model', argument: 'gpt-9' }],
    ['语言 法语', { word: 'lang', argument: '法语' }],
    ['help me write a letter', undefined],
    ['model of the solar system', undefined],
    ['what is new?', undefined],
  ])('reads %j after the platform’s own command', (text, command) => {
    expect(readOwnCommand(text, BARE)).toEqual(command);
  });
});
