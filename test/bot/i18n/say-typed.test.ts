import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SLASH_SPELLINGS } from '../../../src/bot/domain/slash-words.ts';
import { withoutSlashes } from '../../../src/shared/text/texts.ts';
import { localizeForChat } from '../../../src/bot/i18n/say-typed.ts';
import { findTexts, sourceFiles } from './find-texts.ts';

const SLASHED = new RegExp(
  `(?<![\\w:/])[/／](?:${Object.values(SLASH_SPELLINGS)
    .flat()
    .map((word) => word.replace('/', ''))
    .join('|')})`,
);

test('withoutSlashes puts a command in quotation marks, and keeps it as code within code', () => {
  expect(withoutSlashes('send /retry or /new.')).toBe('send “retry” or “new”.');
  expect(withoutSlashes('Choose with `/think off` or `/think max`, or send /help')).toBe(
    'Choose with `think off` or `think max`, or send “help”',
  );
});

test('localizeForChat leaves inserted values unchanged', () => {
  const text = { en: 'Send /unlink, {name}.', zh: '{name}，请发送“解绑”。' };
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(localizeForChat(text, { language: 'en', bareWords: true }, { name })).toBe(`Send “unlink”, ${name}.`);
      expect(localizeForChat(text, { language: 'en' }, { name })).toBe(`Send /unlink, ${name}.`);
      expect(localizeForChat(text, { language: 'zh', bareWords: true }, { name })).toBe(`${name}，请发送“解绑”。`);
    }),
  );
});

test('omits slashes in bot texts on platforms without slash commands', () => {
  const texts = findTexts(sourceFiles('src/bot/i18n'));
  expect(texts.filter(({ en }) => SLASHED.test(en)).length).toBeGreaterThan(10);
  expect(texts.filter(({ en }) => SLASHED.test(withoutSlashes(en))).map(({ key }) => key)).toEqual([]);
  // Chinese commands work without a slash on every platform.
  const both = ({ zh }: { zh: string }) => zh.includes('\n');
  expect(texts.filter((text) => !both(text) && SLASHED.test(text.zh)).map(({ key }) => key)).toEqual([]);
});
