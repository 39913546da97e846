import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { describeSetting, renderEnvExample, renderSettingsPage } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
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

test('the settings page has one row per setting, with its meaning', () => {
  const rows = [...renderSettingsPage().matchAll(/^\| `([A-Z_]+)` \| [^\n]* \| ([^|\n]+) \|$/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual([...SETTING_NAMES].sort());
  expect(rows.filter(([, , meaning = '']) => meaning.trim() === '')).toEqual([]);
});

test('both files begin with the settings that most deployments need', () => {
  const first = SETTING_NAMES.filter((name) => describeSetting(name).level === 'first');
  expect(first).toHaveLength(14);
  const onPage = [...renderSettingsPage().matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
  const inExample = [...renderEnvExample().matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(onPage.slice(0, first.length)).toEqual(first);
  expect(inExample.slice(0, first.length)).toEqual(first);
});
