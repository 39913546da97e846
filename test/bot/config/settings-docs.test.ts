import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { renderEnvExample, renderSettingsPage } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import { GENERATED_FILES } from '../../../src/bot/config/settings-docs.ts';

test.each(GENERATED_FILES.map((file) => [file.path, file] as const))(
  '%s is what the schema says (else: npm run settings:docs)',
  (path, { render }) => {
    expect(readFileSync(path, 'utf8')).toBe(render());
  },
);

test('the example file sets nothing, and offers every setting once its # is removed', () => {
  const example = renderEnvExample();
  expect(parse(example)).toEqual({});
  expect(Object.keys(parse(example.replaceAll(/^#(?=[A-Z_]+=)/gm, '')))).toEqual(
    expect.arrayContaining([...SETTING_NAMES]),
  );
});

test('the page has one row for each setting, with its meaning', () => {
  const rows = [...renderSettingsPage().matchAll(/^\| `([A-Z_]+)` \| [^\n]* \| ([^|\n]+) \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual([...SETTING_NAMES]);
  expect(rows.filter(([, , meaning = '']) => meaning.trim() === '')).toEqual([]);
});
