import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { renderEnvExample } from '../../src/settings/describe-settings.ts';
import { SETTING_NAMES } from '../../src/settings/schema.ts';
import { GENERATED_FILES } from '../../src/settings/settings-docs.ts';

test.each(GENERATED_FILES.map((file) => [file.path, file] as const))(
  '%s is what the schema says (else: npm run settings:docs)',
  (path, { render }) => {
    const present = readFileSync(path, 'utf8');
    expect(present).toBe(render(present));
  },
);

test('the example file sets nothing, and offers every setting once its # is removed', () => {
  const example = renderEnvExample();
  expect(parse(example)).toEqual({});
  expect(Object.keys(parse(example.replaceAll(/^#(?=[A-Z_]+=)/gm, '')))).toEqual(
    expect.arrayContaining([...SETTING_NAMES]),
  );
});

test('a README without its marks is refused rather than written over', () => {
  const readme = GENERATED_FILES.find(({ path }) => path === 'README.md');
  expect(() => readme?.render('# Parley')).toThrow(/settings:begin/);
});
