import { expect, test } from '@jest/globals';
import { languageOfHeader, languageOfText, localize } from '../../../src/shared/text/texts.ts';

test('placeholders are filled, and filled values are not processed again', () => {
  const text = { en: 'Hello {name}, {count} new', zh: '{name}，{count} 条新消息' };
  expect(localize(text, 'en', { name: '{count}', count: 0 })).toBe('Hello {count}, 0 new');
  expect(localize(text, 'zh', { name: '$&', count: 2 })).toBe('$&，2 条新消息');
  expect(localize(text, 'en')).toBe('Hello {name}, {count} new');
});

test('a placeholder named like a property of every object stays unchanged', () => {
  expect(localize({ en: '{constructor} {toString}', zh: '' }, 'en', {})).toBe('{constructor} {toString}');
});

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
  ['ZH', 'zh'],
  ['en-GB,zh;q=0.5', 'en'],
  ['fr, zh-TW;q=0.8, en;q=0.5', 'zh'],
  ['fr,de', 'en'],
  ['zha', 'en'],
  ['zh;q=0, en', 'en'],
  ['en;q=0.2, zh;q=0.9', 'zh'],
])('Accept-Language %j gives %s', (header, language) => {
  expect(languageOfHeader(header)).toBe(language);
});

test.each([
  ['hello', 'en'],
  ['hello 世界', 'zh'],
  ['こんにちは', 'en'],
  ['', 'en'],
])('the language of %j is %s', (text, language) => {
  expect(languageOfText(text)).toBe(language);
});
