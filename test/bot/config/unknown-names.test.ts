import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editDistance } from '../../../src/shared/text/did-you-mean.ts';
import { nearestName } from '../../../src/bot/config/unknown-names.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import { faultyNames, folderWith, loadSound, SERVING } from './environments.ts';

describe('unknown setting names', () => {
  test('with a Parley prefix get a warning that suggests the nearest setting', () => {
    expect(loadSound({ CHAT_BASEURL: 'https://chat.example.org' }).warnings).toEqual([
      'CHAT_BASEURL is not a setting of Parley; did you mean CHAT_BASE_URL?',
    ]);
    expect(loadSound({ SIGN_IN_PROFO: 'same-id' }).warnings).toEqual([expect.stringContaining('SIGN_IN_PROOF?')]);
  });

  test('without a Parley prefix are ignored unless they are one typo away from a setting', () => {
    expect(
      loadSound({ HOME: '/root', LANG: 'C', SHELL: 'sh', KUBERNETES_PORT: 'tcp://…', REDIS_PORT: 'tcp://…' }).warnings,
    ).toEqual([]);
    expect(loadSound({ REDIS_SERVICE_HOST: '10.0.0.1', REDIS_PORT_6379_TCP: 'x' }).warnings).toEqual([]);
    expect(loadSound({ DATADIR: '/x', LOG_LEVLE: 'info' }).warnings).toHaveLength(1 + 1);
  });

  test('in the settings file always get a warning', () => {
    const cwd = folderWith({ 'config/.env': 'PROT=9000\nWHATEVER=1\n' });
    expect(loadSound({}, cwd).warnings).toEqual([
      'PROT is not a setting of Parley; did you mean PORT?',
      'WHATEVER is not a setting of Parley',
    ]);
  });

  test('of unsupported platforms get one warning each and change nothing beside a WeCom bot', () => {
    const { config, warnings } = loadSound({ ...SERVING, TEAMS_APP_ID: 'x', FEISHU_APP_ID: 'z' });
    expect(config.roles).toEqual(['receiver', 'worker']);
    expect(warnings).toEqual(
      expect.arrayContaining([expect.stringContaining('Feishu'), expect.stringContaining('Teams')]),
    );
  });

  test.each(['FEISHU_APP_SECRET_FILE', 'FEISHU_APP_ID', 'DINGTALK_CLIENT_SECRET'])(
    'of unsupported platforms are a fault instead of local mode: %s alone',
    (name) => {
      expect(faultyNames({ [name]: 'x-secret' })).toContain(name);
      expect(faultyNames({ [name]: ' ' })).toEqual([]);
    },
  );

  test('are reported without their values', () => {
    expect(loadSound({ CHAT_APIKEY: 'sk-very-secret' }).warnings.join()).not.toContain('very-secret');
  });
});

test('a name with one typo still finds the intended setting', () => {
  const long = SETTING_NAMES.filter((name) => name.length >= 8);
  fc.assert(
    fc.property(fc.constantFrom(...long), fc.nat(), fc.constantFrom('drop', 'double', 'swap'), (name, at, slip) => {
      const position = at % (name.length - 1);
      const [left, right] = [name.slice(0, position), name.slice(position)];
      const slipped = {
        drop: left + right.slice(1),
        double: left + (right[0] ?? '') + right,
        swap: left + (right[1] ?? '') + (right[0] ?? '') + right.slice(2),
      }[slip];
      const nearest = nearestName(slipped);
      expect(nearest).toBeDefined();
      expect(editDistance(slipped, nearest ?? '')).toBeLessThanOrEqual(editDistance(slipped, name));
    }),
  );
});

test('the edit distance is symmetric, bounded, and zero only for equal names', () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (left, right) => {
      const distance = editDistance(left, right);
      expect(distance).toBe(editDistance(right, left));
      expect(distance === 0).toBe(left === right);
      expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(left.length - right.length));
    }),
  );
});
