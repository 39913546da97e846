import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { SLASH_SPELLINGS } from '../../../src/bot/domain/slash-words.ts';
import { findTexts, sourceFiles, stringsOf, type FoundText } from './find-texts.ts';

/** Tools and platform descriptions are single files that contain their own texts. */
const bringsWords = (file: string) => /^src\/bot\/(?:tools\/[\w-]+|platforms\/[\w-]+\/description)\.ts$/.test(file);
const all = findTexts(sourceFiles('src'));
const catalogue = findTexts([...sourceFiles('src/bot/i18n'), ...sourceFiles('src').filter(bringsWords)]);
const where = ({ file, key, en }: FoundText) => `${file} ${key} ${en.slice(0, 40)}`;
const HAN = /\p{Script=Han}/u;
/** Parts that are the same in both languages: code, links, commands, placeholders and file extensions. */
const SAME_IN_BOTH = /`[^`]*`|“[^”]*”|\{\w+\}|https?:\S+|\/[a-z]+(?:\|[a-z]+)*|\.[a-z]{2,4}\b/gi;
const NAMES =
  /\b(?:Parley|WeCom|Slack|Markdown|Redis|OAuth|OpenID Connect|CAS|JPG|JPEG|PNG|GIF|WebP|PDF|Office|Word|Excel|PowerPoint|CSV|HTML|MB|KB|AI|API|URL|ID|HTTPS?|IP|README|Enter|Shift|Ctrl|Cmd|Alt|Tab|Esc|pixels?|tokens)\b/gi;

/** A text for an unknown reader contains both languages. */
const saysBoth = ({ en, zh }: FoundText) => HAN.test(en) && zh.includes('\n');

/** Latin words in a Chinese text that should have been translated. */
function foreignWords(zh: string): string[] {
  return (
    zh
      .replace(SAME_IN_BOTH, ' ')
      .replace(NAMES, ' ')
      .match(/[A-Za-z]{3,}/g) ?? []
  );
}

const placeholdersOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');

test('the source contains texts to check', () => {
  expect(catalogue.length).toBeGreaterThan(60);
  expect(all.length).toBeGreaterThan(catalogue.length + 100);
});

describe('every text shown to people in the chat, on pages and in the service', () => {
  test('exists in both languages', () => {
    // Chinese sentences follow each other without a space.
    const shown = all.filter(({ key }) => key !== 'betweenSentences');
    expect(shown.filter(({ en, zh }) => en.trim() === '' || zh.trim() === '').map(where)).toEqual([]);
  });

  test('has the same placeholders in both languages', () => {
    const differing = all.filter(({ en, zh }) => placeholdersOf(en) !== placeholdersOf(zh));
    expect(differing.map(where)).toEqual([]);
  });

  test('uses 你 and not 您', () => {
    expect(all.filter(({ zh }) => zh.includes('您')).map(where)).toEqual([]);
  });

  test('has no Chinese in its English version, unless the reader’s language is unknown', () => {
    const mixed = all.filter((text) => HAN.test(text.en.replace(/`[^`]*`|\([^)]*\)/g, '')) && !saysBoth(text));
    expect(mixed.map(where)).toEqual([]);
  });
});

describe('every text of the bot in the chat', () => {
  test('has no English in its Chinese version', () => {
    const mixed = catalogue.filter((text) => !saysBoth(text) && foreignWords(text.zh).length > 0);
    expect(mixed.map((text) => `${where(text)}: ${foreignWords(text.zh).join(' ')}`)).toEqual([]);
  });

  test('is used in the source', () => {
    const code = sourceFiles('src')
      .filter((file) => !file.startsWith('src/bot/i18n'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    // The lines of /help are looked up by command.
    const isWord = ({ key }: FoundText) => Object.hasOwn(SLASH_SPELLINGS, key);
    const unused = catalogue
      .filter((text) => !isWord(text))
      .filter(({ key }) => !new RegExp(`[.']${key}\\b`).test(code));
    expect(unused.map(where)).toEqual([]);
  });

  test('is defined in the catalogue or in its tool or platform, and nowhere else in the bot', () => {
    const modules = ['turn', 'reply', 'ingress', 'queue', 'model', 'policy', 'tools', 'platforms'];
    const files = sourceFiles('src').filter((file) => modules.some((module) => file.startsWith(`src/bot/${module}/`)));
    const isBrought = (file: string, text: string) =>
      bringsWords(file) && findTexts([file]).some(({ zh }) => zh === text);
    // Words that people can type are not texts of the bot.
    const ownWords = files.filter(
      (file) => !file.endsWith('-words.ts') && stringsOf(file).some((text) => HAN.test(text) && !isBrought(file, text)),
    );
    expect(ownWords).toEqual([]);
  });
});
