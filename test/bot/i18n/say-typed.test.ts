import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SLASH_SPELLINGS } from '../../../src/bot/domain/slash-words.ts';
import { withoutSlashes } from '../../../src/shared/text/texts.ts';
import { sayTyped } from '../../../src/bot/i18n/say-typed.ts';
import { findTexts, sourceFiles } from './find-texts.ts';

const SLASHED = new RegExp(
  `(?<![\\w:/])[/／](?:${Object.values(SLASH_SPELLINGS)
    .flat()
    .map((word) => word.replace('/', ''))
    .join('|')})`,
);

test('without slashes a word stands in quotation marks, in code as it is', () => {
  expect(withoutSlashes('send /retry or /new.')).toBe('send “retry” or “new”.');
  expect(withoutSlashes('Choose with `/think off` or `/think max`, or send /help')).toBe(
    'Choose with `think off` or `think max`, or send “help”',
  );
});

test('what fills a text stays as it is', () => {
  const text = { en: 'Send /unlink, {name}.', zh: '{name}，请发送“解绑”。' };
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(sayTyped(text, { language: 'en', bareWords: true }, { name })).toBe(`Send “unlink”, ${name}.`);
      expect(sayTyped(text, { language: 'en' }, { name })).toBe(`Send /unlink, ${name}.`);
      expect(sayTyped(text, { language: 'zh', bareWords: true }, { name })).toBe(`${name}，请发送“解绑”。`);
    }),
  );
});

test('no text of the chat names a word that cannot be typed where there are no slashes', () => {
  const texts = findTexts(sourceFiles('src/bot/i18n'));
  expect(texts.filter(({ en }) => SLASHED.test(en)).length).toBeGreaterThan(10);
  expect(texts.filter(({ en }) => SLASHED.test(withoutSlashes(en))).map(({ key }) => key)).toEqual([]);
  // Chinese words count without a slash everywhere.
  const both = ({ zh }: { zh: string }) => zh.includes('\n');
  expect(texts.filter((text) => !both(text) && SLASHED.test(text.zh)).map(({ key }) => key)).toEqual([]);
});
