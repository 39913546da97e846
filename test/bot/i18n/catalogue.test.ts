import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { SLASH_SPELLINGS } from '../../../src/bot/domain/slash-words.ts';
import { findTexts, sourceFiles, stringsOf, type FoundText } from './find-texts.ts';

/** What is added as one file brings its few words along: a tool, and the description of a platform. */
const bringsWords = (file: string) => /^src\/bot\/(?:tools\/[\w-]+|platforms\/[\w-]+\/description)\.ts$/.test(file);
const all = findTexts(sourceFiles('src'));
const catalogue = findTexts([...sourceFiles('src/bot/i18n'), ...sourceFiles('src').filter(bringsWords)]);
const where = ({ file, key, en }: FoundText) => `${file} ${key} ${en.slice(0, 40)}`;
const HAN = /\p{Script=Han}/u;
/** What both languages write the same way: code, links, words to type, placeholders, names. */
const SAME_IN_BOTH = /`[^`]*`|“[^”]*”|\{\w+\}|https?:\S+|\/[a-z]+(?:\|[a-z]+)*|\.[a-z]{2,4}\b/gi;
const NAMES =
  /\b(?:Parley|WeCom|Slack|Markdown|Redis|OAuth|OpenID Connect|CAS|JPG|JPEG|PNG|GIF|WebP|PDF|Office|Word|Excel|CSV|HTML|MB|KB|AI|API|URL|ID|HTTPS?|IP|README|Enter|Shift|Ctrl|Cmd|Alt|Tab|Esc|pixels?|tokens)\b/gi;

/** Where the reader's language is unknown, one text says both; then the other language is meant to stand in it. */
const saysBoth = ({ en, zh }: FoundText) => HAN.test(en) && zh.includes('\n');

/** Latin words of a Chinese text that nobody needs to read. */
function foreignWords(zh: string): string[] {
  return (
    zh
      .replace(SAME_IN_BOTH, ' ')
      .replace(NAMES, ' ')
      .match(/[A-Za-z]{3,}/g) ?? []
  );
}

const placeholdersOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');

test('there is something to look at', () => {
  expect(catalogue.length).toBeGreaterThan(60);
  expect(all.length).toBeGreaterThan(catalogue.length + 100);
});

describe('every text for people, in the chat, on pages and in the service', () => {
  test('is there in both languages', () => {
    expect(all.filter(({ en, zh }) => en.trim() === '' || zh.trim() === '').map(where)).toEqual([]);
  });

  test('has the same placeholders in both', () => {
    const differing = all.filter(({ en, zh }) => placeholdersOf(en) !== placeholdersOf(zh));
    expect(differing.map(where)).toEqual([]);
  });

  test('says 你 and not 您', () => {
    expect(all.filter(({ zh }) => zh.includes('您')).map(where)).toEqual([]);
  });

  test('has no Chinese left in the English, unless it says both since the reader is unknown', () => {
    const mixed = all.filter((text) => HAN.test(text.en.replace(/`[^`]*`|\([^)]*\)/g, '')) && !saysBoth(text));
    expect(mixed.map(where)).toEqual([]);
  });
});

describe('every text that the bot says in the chat', () => {
  test('has no English left in the Chinese', () => {
    const mixed = catalogue.filter((text) => !saysBoth(text) && foreignWords(text.zh).length > 0);
    expect(mixed.map((text) => `${where(text)}: ${foreignWords(text.zh).join(' ')}`)).toEqual([]);
  });

  test('is said somewhere', () => {
    const code = sourceFiles('src')
      .filter((file) => !file.startsWith('src/bot/i18n'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    // The lines of /help are taken by their words.
    const isWord = ({ key }: FoundText) => Object.hasOwn(SLASH_SPELLINGS, key);
    const unused = catalogue
      .filter((text) => !isWord(text))
      .filter(({ key }) => !new RegExp(`[.']${key}\\b`).test(code));
    expect(unused.map(where)).toEqual([]);
  });

  test('comes from this one catalogue, or from the tool or platform that says it: no module of the bot holds other Chinese words', () => {
    const modules = ['turn', 'reply', 'ingress', 'queue', 'model', 'policy', 'tools', 'platforms'];
    const files = sourceFiles('src').filter((file) => modules.some((module) => file.startsWith(`src/bot/${module}/`)));
    const isBrought = (file: string, text: string) =>
      bringsWords(file) && findTexts([file]).some(({ zh }) => zh === text);
    // What people may type is not said by the bot.
    const ownWords = files.filter(
      (file) => !file.endsWith('-words.ts') && stringsOf(file).some((text) => HAN.test(text) && !isBrought(file, text)),
    );
    expect(ownWords).toEqual([]);
  });
});
