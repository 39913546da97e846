import { describe, expect, test } from '@jest/globals';
import { faultyNames, folderWith, load, loadSound, SECRET_KEY, SERVING } from './environments.ts';

describe('a settings file in the wrong place', () => {
  const lines = 'CHAT_API_KEY=sk-institution\n';

  test('is named, with the place where it would be read: nobody wonders why local mode runs', () => {
    const cwd = folderWith({ '.env': lines });
    const { config, warnings } = loadSound({}, cwd);
    expect(config.mode).toBe('local');
    expect(warnings).toEqual([`${cwd}/.env is not read: move it to ${cwd}/config/.env, or set ENV_FILE=.env`]);
  });

  test('is not looked at beside one in the right place, where one is named, or where it is another program’s', () => {
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

describe('what is copied into a setting a little wrongly', () => {
  test.each(['xapp-1-A0-1-abcdef', 'xoxp-1234-abcdef', 'xoxe.xoxp-1-abcdef', 'xoxe-1-abcdef'])(
    'Slack’s token of another kind (%s) is no bot token',
    (token) => {
      const env = { ...SERVING, SLACK_SIGNING_SECRET: '0123456789abcdef', SLACK_BOT_TOKEN: token };
      const loaded = load({ ...env, SIGN_IN_PROOF: 'same-id' });
      expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
        'SLACK_BOT_TOKEN must be a bot token, which begins with xoxb-',
      ]);
    },
  );

  test('a bot token is one, also where Slack exchanges it now and then', () => {
    for (const token of ['xoxb-1234-abcdef', 'xoxe.xoxb-1-abcdef'])
      loadSound({
        ...SERVING,
        SLACK_SIGNING_SECRET: '0123456789abcdef',
        SLACK_BOT_TOKEN: token,
        SIGN_IN_PROOF: 'same-id',
      });
  });

  test.each(['/chat/completions', '/chat/completions/'])(
    'the chat interface’s address with %s behind it says which part to leave out',
    (end) => {
      const loaded = load({ ...SERVING, SECRET_KEY, CHAT_BASE_URL: `https://chat.example.org/v1${end}` });
      expect(!loaded.ok && loaded.faults.map(({ message }) => message)).toEqual([
        `CHAT_BASE_URL ends in ${end.replace(/\/$/, '')}, which is added to it: leave that out, so that it ends in /v1`,
      ]);
      expect(faultyNames({ ...SERVING, CHAT_BASE_URL: 'https://chat.example.org/v1' })).toEqual([]);
      const engine = { ROLES: 'service', SERVICE_UPSTREAM_URL: `https://engine.example.org/v1${end}` };
      expect(faultyNames(engine)).toEqual(['SERVICE_UPSTREAM_URL']);
    },
  );
});
