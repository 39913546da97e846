import { describe, expect, test } from '@jest/globals';
import { faultyNames, folderWith, load, loadSound, SECRET_KEY, SERVING } from './environments.ts';

describe('a settings file in the wrong place', () => {
  const lines = 'CHAT_API_KEY=sk-institution\n';

  test('produces a warning with the path where it would be read', () => {
    const cwd = folderWith({ '.env': lines });
    const { config, warnings } = loadSound({}, cwd);
    expect(config.mode).toBe('local');
    expect(warnings).toEqual([`${cwd}/.env is not read: move it to ${cwd}/config/.env, or set ENV_FILE=.env`]);
  });

  test('produces no warning if a file is in place, if ENV_FILE names a file, or if it belongs to another program', () => {
    const inPlace = folderWith({ '.env': lines, 'config/.env': lines, 'other.env': lines });
    const others = folderWith({ '.env': 'EDITOR=vi\n' });
    const beside = [
      loadSound({}, inPlace),
      loadSound({ ENV_FILE: 'other.env' }, inPlace),
      loadSound({}, others),
      loadSound({ ENV_FILE: '.env' }, folderWith({ '.env': lines })),
    ].flatMap(({ warnings }) => warnings);
    expect(beside.filter((warning) => warning.includes('is not read'))).toEqual([]);
  });
});

describe('common copying mistakes', () => {
  test.each(['xapp-1-A0-1-abcdef', 'xoxp-1234-abcdef', 'xoxe.xoxp-1-abcdef', 'xoxe-1-abcdef'])(
    'a Slack token of another kind (%s) is refused as a bot token',
    (token) => {
      const env = { ...SERVING, SLACK_SIGNING_SECRET: '0123456789abcdef', SLACK_BOT_TOKEN: token };
      const loaded = load({ ...env, SIGN_IN_PROOF: 'same-id' });
      expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
        'SLACK_BOT_TOKEN must be a bot token, which begins with xoxb-',
      ]);
    },
  );

  test('a Slack bot token is accepted, with and without token rotation', () => {
    for (const token of ['xoxb-1234-abcdef', 'xoxe.xoxb-1-abcdef'])
      loadSound({
        ...SERVING,
        SLACK_SIGNING_SECRET: '0123456789abcdef',
        SLACK_BOT_TOKEN: token,
        SIGN_IN_PROOF: 'same-id',
      });
  });

  test.each(['/chat/completions', '/chat/completions/'])(
    'a chat address that ends in %s is refused with the part to remove',
    (end) => {
      const loaded = load({ ...SERVING, SECRET_KEY, CHAT_BASE_URL: `https://chat.example.org/v1${end}` });
      expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
        `CHAT_BASE_URL ends in ${end.replace(/\/$/, '')}, which Parley appends: remove it, so that the address ends in /v1`,
      ]);
      expect(faultyNames({ ...SERVING, CHAT_BASE_URL: 'https://chat.example.org/v1' })).toEqual([]);
      const engine = { ROLES: 'service', SERVICE_UPSTREAM_URL: `https://engine.example.org/v1${end}` };
      expect(faultyNames(engine)).toEqual(['SERVICE_UPSTREAM_URL']);
    },
  );
});
