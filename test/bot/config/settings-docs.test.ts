import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { describeSetting, renderEnvExample, renderSettingsPage } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_GROUPS, SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import { CHINESE_TITLES, SETTINGS_ZH } from '../../../src/bot/config/settings-zh.ts';
import { GENERATED_FILES } from '../../../src/bot/config/settings-docs.ts';

test.each(GENERATED_FILES.map((file) => [file.path, file] as const))(
  '%s matches the schema (update it with npm run settings:docs)',
  (path, { render }) => {
    expect(readFileSync(path, 'utf8')).toBe(render());
  },
);

test('the example file sets nothing, and lists every setting as a comment', () => {
  const example = renderEnvExample();
  expect(parse(example)).toEqual({});
  expect(Object.keys(parse(example.replaceAll(/^#(?=[A-Z_]+=)/gm, '')))).toEqual(
    expect.arrayContaining([...SETTING_NAMES]),
  );
});

test.each(['en', 'zh'] as const)('the settings page in %s has one row per setting, with its meaning', (language) => {
  const rows = [...renderSettingsPage(language).matchAll(/^\| `([A-Z_]+)` \| [^\n]* \| ([^|\n]+) \|$/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual([...SETTING_NAMES].sort());
  expect(rows.filter(([, , meaning = '']) => meaning.trim() === '')).toEqual([]);
});

test('every description in Chinese is Chinese, and every default in words has Chinese words', () => {
  const han = /\p{Script=Han}/u;
  expect(SETTING_NAMES.filter((name) => !han.test(SETTINGS_ZH[name].meaning))).toEqual([]);
  const inWords = SETTING_NAMES.filter((name) => describeSetting(name).default?.includes(' ') === true);
  expect(inWords.filter((name) => !han.test(SETTINGS_ZH[name].default ?? ''))).toEqual([]);
  expect(SETTING_GROUPS.map(({ title }) => title).filter((title) => CHINESE_TITLES[title] === undefined)).toEqual([]);
});

test('all files begin with the settings that most deployments need', () => {
  const first = SETTING_NAMES.filter((name) => describeSetting(name).level === 'first');
  expect(first).toHaveLength(14);
  const pages = [renderSettingsPage('en'), renderSettingsPage('zh')];
  const inExample = [...renderEnvExample().matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name);
  for (const page of pages)
    expect([...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name).slice(0, first.length)).toEqual(first);
  expect(inExample.slice(0, first.length)).toEqual(first);
});
