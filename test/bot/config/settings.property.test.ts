import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { exampleValues } from '../../../src/bot/config/describe-settings.ts';
import { SETTING_NAMES, settingsSchema, type SettingName } from '../../../src/bot/config/schema.ts';
import { AES_KEY, folderWith, load, loadSound, SECRET_KEY, SERVING } from './environments.ts';
import { anyText } from '../../support/any-text.ts';
import { tries } from '../../support/tries.ts';

/** Values that break naive parsers: separators, control characters, other scripts and near-misses of valid values. */
const anyValue = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'NaN',
    ',',
    '=,=',
    'yes',
    'off',
    'http://',
    'https://[',
    'redis://',
    '__proto__',
    '🙂',
  ),
);
const anyName = fc.oneof(
  fc.constantFrom(...SETTING_NAMES),
  fc.constantFrom('FEISHU_APP_ID', 'CHAT_X', '__proto__', 'constructor'),
);
const anyEnv = fc.dictionary(anyName, anyValue, { maxKeys: 12 });

test('loading never throws, and every fault starts with the name of its setting', () => {
  const names = new Set<string>([...SETTING_NAMES, 'FEISHU_APP_ID']);
  fc.assert(
    fc.property(anyEnv, fc.boolean(), (env, isServing) => {
      const loaded = load(isServing ? { ...SERVING, ...env } : env);
      if (loaded.ok) return;
      expect(loaded.faults.length).toBeGreaterThan(0);
      expect(new Set(loaded.faults.map(({ setting }) => setting)).size).toBe(loaded.faults.length);
      for (const { setting, message } of loaded.faults) {
        expect(names.has(setting.replace(/_FILE$/, '')) || names.has(setting)).toBe(true);
        expect(message.startsWith(`${setting} `)).toBe(true);
      }
    }),
    { numRuns: tries(400) },
  );
});

test.each(['__proto__', 'constructor', 'toString'])('%s is not accepted by any enumerated setting', (word) => {
  for (const name of SETTING_NAMES) {
    const read = settingsSchema.shape[name].safeParse(word);
    expect([name, typeof read.data]).not.toEqual([name, 'function']);
    expect([name, read.data === Object.prototype]).toEqual([name, false]);
  }
});

const FAR_TOO_LONG = 'x'.repeat(3) + '\u0000';

test('a fault never quotes the rejected value', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SETTING_NAMES), fc.stringMatching(/^[a-z]{12,20}$/), (name, word) => {
      const loaded = load({ ...SERVING, [name]: word + FAR_TOO_LONG });
      expect(JSON.stringify(loaded.ok ? loaded.warnings : [loaded.faults, loaded.warnings])).not.toContain(word);
    }),
  );
});

const valid: Record<string, fc.Arbitrary<string>> = {
  PORT: fc.integer({ min: 1, max: 8_000 }).map(String),
  ROLES: fc.subarray(['receiver', 'worker', 'service'], { minLength: 1 }).map((roles) => roles.join(',')),
  PUBLIC_URL: fc.constantFrom('https://a.example.org', 'http://localhost:8080'),
  CHAT_MODELS: fc
    .uniqueArray(fc.stringMatching(/^[a-z0-9.:-]{1,12}$/), { minLength: 1, maxLength: 4 })
    .map((all) => all.join(',')),
  SIGN_IN: fc.constantFrom('required', 'optional', 'off'),
  SIGN_IN_CLIENT_SECRET: fc.stringMatching(/^[!-~]{1,40}$/),
  CHAT_API_KEY: fc.stringMatching(/^[\w#$ '"+/=.-]{1,40}$/).filter((key) => key.trim() === key && key !== ''),
  WECOM_BOT_NAME: fc.constantFrom('Campus Helper', '小助手', "Bob's bot #1"),
  SECRET_KEY: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  HISTORY_TTL_DAYS: fc.integer({ min: 1, max: 3_650 }).map(String),
};

/** A line of the settings file, quoted with a character that the value does not contain. */
function asEnvLine([name, value]: [string, string]): string {
  const mark = ["'", '"', '`'].find((candidate) => !value.includes(candidate));
  return mark === undefined ? '' : `${name}=${mark}${value}${mark}`;
}

test('a valid environment has the same effect in the settings file', () => {
  fc.assert(
    fc.property(fc.record(valid, { requiredKeys: [] }), (some) => {
      const all = { ...SERVING, ...(some as Record<string, string>) };
      const lines = Object.entries(all).map(asEnvLine);
      fc.pre(!lines.includes('') && !Object.values(all).some((value) => value.includes('\\')));
      const cwd = folderWith({ 'config/.env': lines.join('\n') });
      const { config, secrets } = loadSound({}, cwd);
      expect({ config, secrets }).toEqual({ config: loadSound(all, cwd).config, secrets: loadSound(all, cwd).secrets });
    }),
    { numRuns: tries(60) },
  );
});

test('every setting is described, and every example value is accepted', () => {
  const secrets: Partial<Record<SettingName, string>> = {
    SECRET_KEY,
    SECRET_KEY_PREVIOUS: SECRET_KEY,
    WECOM_BOT_AES_KEY: AES_KEY,
    WEB_SEARCH_BRAVE_KEY: 'BSA-0123456789',
    SLACK_APP_TOKEN: 'xapp-0123456789',
  };
  const examples = exampleValues();
  for (const name of SETTING_NAMES) {
    const read = settingsSchema.shape[name].safeParse(
      examples[name] === '' ? (secrets[name] ?? 'secret') : examples[name],
    );
    expect([name, read.success]).toEqual([name, true]);
  }
});
