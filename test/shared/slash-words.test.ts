import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readSlashCommand, SLASH_SPELLINGS, type SlashCommandName } from '../../src/bot/domain/slash-words.ts';

const SPELLINGS = (Object.keys(SLASH_SPELLINGS) as SlashCommandName[]).flatMap((word) =>
  SLASH_SPELLINGS[word].map((spelling) => ({ word, spelling: spelling.replace(/^\//, '') })),
);
const anySpelling = fc.constantFrom(...SPELLINGS);
const anySpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u3000', '\u00a0'), maxLength: 3 });
const isChinese = (spelling: string): boolean => /\p{Script=Han}/u.test(spelling);

test('every spelling is read after either slash, in any case, among any spaces, with its argument', () => {
  const anyArgument = fc
    .string({ unit: fc.constantFrom('a', '1', ' ', '/', '中'), maxLength: 8 })
    .map((text) => text.trim());
  fc.assert(
    fc.property(
      anySpelling,
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

test('a word without a slash is a command only in Chinese and only alone', () => {
  for (const { word, spelling } of SPELLINGS) {
    expect(readSlashCommand(spelling)).toEqual(isChinese(spelling) ? { word, argument: '' } : undefined);
    expect(readSlashCommand(`${spelling} 一下`)).toBeUndefined();
  }
});

test('any other text is a normal message', () => {
  for (const text of [
    '',
    '/',
    '//help',
    '/ help',
    '/helpme',
    '/help-me',
    'please /help',
    '/constructor',
    '/toString',
    '停止吧',
    '-/stop',
  ]) {
    expect(readSlashCommand(text)).toBeUndefined();
  }
  const known = new Set(SPELLINGS.map(({ spelling }) => spelling));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const name =
        text
          .trim()
          .replace(/^[/／]/, '')
          .split(/\s/)[0]
          ?.toLowerCase() ?? '';
      fc.pre(!known.has(name));
      expect(readSlashCommand(text)).toBeUndefined();
    }),
  );
});
