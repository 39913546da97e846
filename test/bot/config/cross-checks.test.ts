import { describe, expect, test } from '@jest/globals';
import { slack } from '../../../src/bot/platforms/slack/description.ts';
import { faultyNames, load, loadSound, SERVING, without } from './environments.ts';

const WITHOUT_APP = without(SERVING, 'WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET');

describe('credentials', () => {
  test.each(['WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY', 'WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'])(
    'a group of settings without %s is incomplete and refused',
    (name) => expect(faultyNames(without(SERVING, name))).toEqual([name]),
  );

  test('the WeCom bot and the WeCom app do not require each other', () => {
    expect(faultyNames({ ...WITHOUT_APP, SIGN_IN_PROOF: 'same-id' })).toEqual([]);
    expect(faultyNames(without(SERVING, 'WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY', 'WECOM_BOT_NAME'))).toEqual([]);
  });

  test('Slack requires both of its secrets and ends local mode', () => {
    const slack = { SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token' };
    expect(loadSound({ ...SERVING, ...slack, SIGN_IN_PROOF: 'same-id' }).config.slack).toEqual({
      isOn: true,
      connect: 'http',
      reply: 'stream',
      hasButtons: true,
      apiUrl: 'https://slack.com/api',
      clientId: undefined,
      openUrl: 'https://slack.com',
      moreWorkspaces: [],
    });
    for (const name of Object.keys(slack))
      expect(faultyNames({ ...SERVING, ...without(slack, name), SIGN_IN_PROOF: 'same-id' })).toEqual([name]);
    expect(faultyNames(slack)).toEqual(expect.arrayContaining(['REDIS_URL', 'CHAT_BASE_URL']));
  });

  test('SLACK_CONNECT=socket requires the app-level token over a socket and no signing secret', () => {
    const socket = { SLACK_CONNECT: 'socket', SLACK_APP_TOKEN: 'xapp-1-token', SLACK_BOT_TOKEN: 'xoxb-1-token' };
    const alone = { ...SERVING, SIGN_IN_PROOF: 'same-id' };
    const { config } = loadSound({ ...alone, ...socket });
    expect(config.platforms).toEqual(['wecom', 'slack']);
    expect(config.connections).toEqual(['slack']);
    expect(loadSound(alone).config.connections).toEqual([]);
    for (const name of ['SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN'])
      expect(faultyNames({ ...alone, ...without(socket, name) })).toEqual([name]);
    // The credentials of the other connection type are tolerated.
    expect(faultyNames({ ...alone, ...socket, SLACK_SIGNING_SECRET: 'signing-secret' })).toEqual([]);
    expect(faultyNames({ ...alone, ...without(socket, 'SLACK_CONNECT') })).toContain('SLACK_APP_TOKEN');
    expect(faultyNames({ ...alone, ...socket, SLACK_APP_TOKEN: 'xoxb-1-token' })).toEqual(['SLACK_APP_TOKEN']);
    expect(faultyNames({ ...alone, ...socket, SLACK_CONNECT: 'websocket' })).toContain('SLACK_CONNECT');
  });

  test('the proof same-browser requires the web sign-in of every enabled platform', () => {
    const slack = { SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token' };
    const client = { SLACK_CLIENT_ID: '123.456', SLACK_CLIENT_SECRET: 'client secret' };
    const messageOf = (env: Record<string, string>) => {
      const loaded = load(env);
      return loaded.ok ? '' : loaded.faults.map(({ message }) => message).join();
    };
    expect(messageOf({ ...SERVING, ...slack })).toMatch(
      /^SIGN_IN_PROOF is missing: set SLACK_CLIENT_ID, SLACK_CLIENT_SECRET for same-browser, or .*wecom:same-browser,slack:same-id$/,
    );
    expect(messageOf({ ...SERVING, ...slack, SIGN_IN_PROOF: 'same-browser,same-id' })).toMatch(
      /^SIGN_IN_PROOF names same-browser, which requires SLACK_CLIENT_ID, SLACK_CLIENT_SECRET; or name a proof for each/,
    );
    expect(messageOf({ ...SERVING, ...slack, SIGN_IN_PROOF: 'typed-code' })).toBe('');
    expect(messageOf({ ...WITHOUT_APP, ...slack, ...client })).toContain('set WECOM_CORP_ID');
    for (const env of [
      {},
      { SIGN_IN_PROOF: 'same-browser' },
      { SIGN_IN_PROOF: 'wecom:same-browser,slack:same-browser' },
    ])
      expect(loadSound({ ...SERVING, ...slack, ...client, ...env }).config.signIn.proofs).toEqual(['same-browser']);
    const alone = without(SERVING, ...Object.keys(SERVING).filter((name) => name.startsWith('WECOM_')));
    expect(loadSound({ ...alone, ...slack, ...client }).config.signIn.proofs).toEqual(['same-browser']);
    expect(messageOf({ ...alone, ...slack })).toContain('set SLACK_CLIENT_ID');
  });

  test.each(['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'])(
    '%s alone is refused as half of Slack’s web sign-in',
    (name) => {
      const client = { SLACK_CLIENT_ID: '123.456', SLACK_CLIENT_SECRET: 'client secret' };
      const slack = { SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token' };
      expect(faultyNames({ ...SERVING, ...slack, ...without(client, name) })).toEqual([name]);
      expect(faultyNames({ ...SERVING, ...slack, ...client, SLACK_CLIENT_ID: 'two words' })).toEqual([
        'SLACK_CLIENT_ID',
      ]);
    },
  );

  test.each([
    ['SECRET_KEY', Buffer.alloc(31).toString('base64')],
    ['SECRET_KEY', Buffer.alloc(33).toString('base64')],
    ['SECRET_KEY_PREVIOUS', `${SERVING['SECRET_KEY'] ?? ''},nonsense`],
    ['WECOM_BOT_AES_KEY', 'abc'],
    ['WECOM_AGENT_ID', 'one'],
  ])('an invalid %s is refused', (name, value) => {
    expect(faultyNames({ ...SERVING, [name]: value })).toEqual([name]);
  });
});

describe('local mode that simulates Slack', () => {
  const local = { MESSENGER_PROTOCOL: 'slack', MESSENGER_PORT: '9082' };

  test('enables Slack only, in the simulator, with the proof same-browser [proof-of-person]', () => {
    const { config, warnings } = loadSound(local);
    expect(config.mode).toBe('local');
    expect(config.slack).toEqual({
      isOn: true,
      connect: 'http',
      reply: 'stream',
      hasButtons: true,
      apiUrl: 'http://127.0.0.1:9082/api',
      clientId: expect.stringMatching(/^\d+\.\d+$/),
      openUrl: 'http://127.0.0.1:9082',
      moreWorkspaces: [],
    });
    expect(config.wecom).toMatchObject({ isBotOn: false, app: undefined });
    expect(config.signIn.proofs).toEqual(['same-browser']);
    expect(warnings).toEqual([]);
  });

  test('accepts every other proof that is possible there', () => {
    for (const proof of ['same-id', 'typed-code', 'same-browser'])
      expect(loadSound({ ...local, SIGN_IN_PROOF: proof }).config.signIn.proofs).toEqual([proof]);
    expect(loadSound({ ...local, SIGN_IN: 'off' }).config.signIn.proofs).toEqual([]);
  });

  test('requires an explicit proof if the simulated platform has no web sign-in [proof-of-person]', () => {
    const { webSignIn } = slack;
    Reflect.deleteProperty(slack, 'webSignIn');
    try {
      expect(faultyNames(local)).toEqual(['SIGN_IN_PROOF']);
      expect(faultyNames({ ...local, SIGN_IN_PROOF: 'same-browser' })).toEqual(['SIGN_IN_PROOF']);
      expect(loadSound({ ...local, SIGN_IN_PROOF: 'typed-code' }).config.signIn.proofs).toEqual(['typed-code']);
    } finally {
      Object.assign(slack, { webSignIn });
    }
  });

  test('shows the bot name of the simulated platform, and Parley if none is set', () => {
    const name = { WECOM_BOT_NAME: 'Aunt Li' };
    expect(loadSound(name).config.local.botName).toBe('Aunt Li');
    expect(loadSound({ ...local, ...name }).config.local.botName).toBe('Parley');
  });

  test('does not apply to a deployment with credentials, whatever MESSENGER_PROTOCOL says', () => {
    const { config } = loadSound({ ...SERVING, ...local });
    expect([config.mode, config.slack.isOn, config.wecom.isBotOn]).toEqual(['serving', false, true]);
    expect(config.signIn.proofs).toEqual(['same-browser']);
  });
});

describe('SIGN_IN_PROOF [proof-of-person]', () => {
  test('defaults to same-browser if the WeCom app is configured', () => {
    expect(loadSound(SERVING).config.signIn.proofs).toEqual(['same-browser']);
  });

  test('is required if the WeCom app is not configured', () => {
    const loaded = load(WITHOUT_APP);
    expect(!loaded.ok && loaded.faults).toEqual([
      { setting: 'SIGN_IN_PROOF', message: expect.stringContaining('WECOM_CORP_ID') },
    ]);
  });

  test('rejects same-browser without a WeCom app', () => {
    expect(faultyNames({ ...WITHOUT_APP, SIGN_IN_PROOF: 'same-browser,same-id' })).toEqual(['SIGN_IN_PROOF']);
  });

  test.each(['typed-code,same-id', 'same-browser,typed-code'])('rejects %s: typed-code is exclusive', (proof) => {
    const loaded = load({ ...SERVING, SIGN_IN_PROOF: proof });
    expect(!loaded.ok && loaded.faults[0]?.message).toMatch(/^SIGN_IN_PROOF .*combines typed-code with another proof/);
  });

  test('accepts typed-code without an app and with a warning, and never as the default [proof-of-person]', () => {
    const loaded = loadSound({ ...WITHOUT_APP, SIGN_IN_PROOF: 'typed-code' });
    expect(loaded.config.signIn.proofs).toEqual(['typed-code']);
    expect(loaded.warnings.join()).toMatch(/SIGN_IN_PROOF is typed-code: an attacker who persuades/);
    expect(loadSound({ SIGN_IN_PROOF: 'typed-code' }).warnings.join()).toContain('typed-code');
    expect(loadSound({ SIGN_IN_PROOF: 'typed-code', SIGN_IN: 'off' }).warnings.join()).not.toContain('typed-code');
    for (const env of [SERVING, {}]) {
      expect(loadSound(env).config.signIn.proofs).toEqual(['same-browser']);
      expect(loadSound(env).warnings.join()).not.toContain('typed-code');
    }
  });

  test('accepts a rule for equal ids', () => {
    const rule = (text: string) => loadSound({ ...SERVING, SIGN_IN_SAME_ID_RULE: text }).config.signIn.sameIdRule;
    expect(rule('field=id;prefix=;case=exact')).toEqual({ field: 'id', prefix: '', ignoreCase: false });
    expect(rule('field=attributes.XGH;prefix=u-;case=ignore')).toEqual({
      field: 'XGH',
      prefix: 'u-',
      ignoreCase: true,
    });
    expect(faultyNames({ ...SERVING, SIGN_IN_SAME_ID_RULE: 'id' })).toEqual(['SIGN_IN_SAME_ID_RULE']);
    expect(faultyNames({ ...SERVING, SIGN_IN_SAME_ID_RULE: 'field=name' })).toEqual(['SIGN_IN_SAME_ID_RULE']);
  });
});

describe('web search', () => {
  const [url, key] = [{ WEB_SEARCH_URL: 'https://searxng.example.org' }, { WEB_SEARCH_BRAVE_KEY: 'brave-key-0123' }];

  test('WEB_SEARCH_URL and WEB_SEARCH_BRAVE_KEY exclude each other, and the key is not shown [checked-at-start]', () => {
    const loaded = load({ ...SERVING, ...url, ...key });
    expect(!loaded.ok && loaded.faults).toEqual([
      { setting: 'WEB_SEARCH_BRAVE_KEY', message: expect.stringContaining('WEB_SEARCH_URL') },
    ]);
    expect(JSON.stringify(loaded)).not.toContain('brave-key');
  });

  test('accepts one of the two settings or none', () => {
    const [searxng, brave, none] = [url, key, {}].map((env) => loadSound({ ...SERVING, ...env }));
    expect([searxng?.config.webSearchUrl, searxng?.secrets.webSearchBraveKey]).toEqual([url.WEB_SEARCH_URL, undefined]);
    expect([brave?.config.webSearchUrl, brave?.secrets.webSearchBraveKey]).toEqual([undefined, 'brave-key-0123']);
    expect([none?.config.webSearchUrl, none?.secrets.webSearchBraveKey]).toEqual([undefined, undefined]);
  });
});

describe('addresses', () => {
  test.each(['CHAT_BASE_URL', 'SIGN_IN_URL', 'WECOM_API_URL', 'WECOM_OPEN_URL', 'SERVICE_UPSTREAM_URL'])(
    '%s may use http on the loopback interface only',
    (name) => {
      for (const host of ['127.0.0.1', '127.0.0.9', '[::1]', 'localhost']) {
        expect(faultyNames({ ...SERVING, [name]: `http://${host}:9000/v1` })).toEqual([]);
      }
      for (const bad of [
        'http://chat.example.org/v1',
        'http://127.0.0.1.evil.org',
        'ftp://localhost',
        'chat',
        'https://u:p@a.org',
      ]) {
        expect(faultyNames({ ...SERVING, [name]: bad })).toEqual([name]);
      }
    },
  );

  test('PUBLIC_URL must be an origin: https, or http on one of three loopback names', () => {
    const origin = (url: string) => loadSound({ ...SERVING, PUBLIC_URL: url }).config.http.publicUrl;
    expect(origin('https://Parley.example.org/')).toBe('https://parley.example.org');
    expect(origin('http://localhost:8080')).toBe('http://localhost:8080');
    expect(origin('http://[::1]:8080')).toBe('http://[::1]:8080');
    for (const bad of [
      'http://parley.example.org',
      'http://127.0.0.2',
      'https://a.org/bot',
      'https://a.org/?x',
      'nonsense',
    ]) {
      expect(faultyNames({ ...SERVING, PUBLIC_URL: bad })).toEqual(['PUBLIC_URL']);
    }
  });

  test('REDIS_URL accepts a list of cluster nodes or sentinels, but no other scheme', () => {
    const { secrets } = loadSound({ ...SERVING, REDIS_URL: 'redis://a:1, redis://b:2' });
    expect(secrets.redisUrls).toEqual(['redis://a:1', 'redis://b:2']);
    expect(faultyNames({ ...SERVING, REDIS_URL: 'redis://a,http://b' })).toEqual(['REDIS_URL']);
    expect(faultyNames({ REDIS_SENTINEL_NAME: 'master' })).toEqual(['REDIS_URL']);
  });

  test('two servers cannot share a port', () => {
    expect(faultyNames({ PORT: '8082' })).toEqual(['MESSENGER_PORT']);
    expect(faultyNames({ SERVICE_PORT: '8080', METRICS_PORT: '8080' })).toEqual(['SERVICE_PORT', 'METRICS_PORT']);
    expect(faultyNames({ ADMIN_IDS: '20080117', ADMIN_PORT: '8080' })).toEqual(['ADMIN_PORT']);
    expect(faultyNames({ ...SERVING, PORT: '8081' })).toEqual([]);
  });
});

test('WEBHOOK_WINDOW_SEC cannot exceed the day in which repeats are detected [time-window]', () => {
  expect(faultyNames({ WEBHOOK_WINDOW_SEC: '86400' })).toEqual([]);
  expect(faultyNames({ WEBHOOK_WINDOW_SEC: '86401' })).toEqual(['WEBHOOK_WINDOW_SEC']);
});

test('CHAT_MODEL must be one of CHAT_MODELS', () => {
  expect(loadSound({ CHAT_MODELS: 'a,b', CHAT_MODEL: 'b' }).config.chat).toMatchObject({
    models: ['a', 'b'],
    model: 'b',
  });
  expect(faultyNames({ CHAT_MODELS: 'a,b', CHAT_MODEL: 'c' })).toEqual(['CHAT_MODEL']);
});

test('CHAT_FALLBACK_MODEL must be one of CHAT_MODELS, and equal to CHAT_MODEL only with a warning [chat-service-fails]', () => {
  const models = { CHAT_MODELS: 'a,b', CHAT_MODEL: 'b' };
  expect(loadSound(models).config.chat.fallbackModel).toBeUndefined();
  expect(loadSound({ ...models, CHAT_FALLBACK_MODEL: 'a' })).toMatchObject({
    config: { chat: { fallbackModel: 'a' } },
    warnings: [],
  });
  expect(faultyNames({ ...models, CHAT_FALLBACK_MODEL: 'c' })).toEqual(['CHAT_FALLBACK_MODEL']);
  expect(loadSound({ ...models, CHAT_FALLBACK_MODEL: 'b' }).warnings[0]).toContain('CHAT_FALLBACK_MODEL');
});

test('the soft limits of the queue cannot exceed the hard limits [back-pressure]', () => {
  expect(loadSound({ QUEUE_SOFT_WAITING: '7', QUEUE_HARD_WAITING: '7' }).config.queue).toMatchObject({
    softWaiting: 7,
    hardWaiting: 7,
    softAgeSec: 20,
    hardAgeSec: 300,
  });
  expect(faultyNames({ QUEUE_SOFT_WAITING: '2001' })).toEqual(['QUEUE_SOFT_WAITING']);
  expect(faultyNames({ QUEUE_HARD_AGE_SEC: '19' })).toEqual(['QUEUE_SOFT_AGE_SEC']);
});

test('valid but probably unintended settings produce a warning', () => {
  const { warnings } = loadSound(without(SERVING, 'PUBLIC_URL', 'WECOM_BOT_NAME', 'CHAT_API_KEY'));
  expect(warnings.map((line) => line.split(' ')[0])).toEqual(['CHAT_API_KEY', 'PUBLIC_URL', 'WECOM_BOT_NAME']);
});

describe('institution sign-in of the service [ways-to-sign-in]', () => {
  const OIDC = {
    SERVICE_OIDC_ISSUER: 'https://id.example.edu/realms/campus/',
    SERVICE_OIDC_CLIENT_ID: 'campus-chat',
    SERVICE_OIDC_CLIENT_SECRET: 'the secret',
  };
  const CAS = { SERVICE_CAS_URL: 'https://cas.example.edu/cas/' };
  const ALONE = { ROLES: 'service' };

  test('with OpenID Connect keeps the issuer verbatim and the secret out of the configuration', () => {
    const { config, secrets } = loadSound({ ...ALONE, ...OIDC });
    expect(config.service.institution).toEqual({
      kind: 'oidc',
      issuer: 'https://id.example.edu/realms/campus/',
      clientId: 'campus-chat',
      scope: 'openid profile',
    });
    expect([secrets.serviceOidcClientSecret, JSON.stringify(config).includes('the secret')]).toEqual([
      'the secret',
      false,
    ]);
  });

  test('with CAS reads its name and profile map', () => {
    const given = { ...ALONE, ...CAS, SERVICE_IDENTITY_NAME: '统一身份认证', SERVICE_PROFILE_MAP_FILE: 'map.json' };
    const { service } = loadSound(given).config;
    expect(service.institution).toEqual({ kind: 'cas', url: 'https://cas.example.edu/cas' });
    expect([service.institutionName, service.profileMapFile?.endsWith('/map.json')]).toEqual(['统一身份认证', true]);
  });

  test.each(Object.keys(OIDC))('without %s is incomplete and refused', (name) =>
    expect(faultyNames(without({ ...ALONE, ...OIDC }, name))).toEqual([name]),
  );

  test.each<[string, Record<string, string>, string]>([
    ['both ways at once', { ...OIDC, ...CAS }, 'SERVICE_CAS_URL'],
    ['a map without either', { SERVICE_PROFILE_MAP_FILE: 'map.json' }, 'SERVICE_PROFILE_MAP_FILE'],
    ['a name without either', { SERVICE_IDENTITY_NAME: 'Campus ID' }, 'SERVICE_IDENTITY_NAME'],
    ['plain http', { ...OIDC, SERVICE_OIDC_ISSUER: 'http://id.example.edu' }, 'SERVICE_OIDC_ISSUER'],
    ['plain http', { SERVICE_CAS_URL: 'http://cas.example.edu/cas' }, 'SERVICE_CAS_URL'],
    ['a scope without openid', { ...OIDC, SERVICE_OIDC_SCOPE: 'profile' }, 'SERVICE_OIDC_SCOPE'],
  ])('rejects %s', (_, given, name) => expect(faultyNames({ ...ALONE, ...given })).toEqual([name]));

  test('allows plain http on this machine only', () => {
    expect(faultyNames({ ...ALONE, ...OIDC, SERVICE_OIDC_ISSUER: 'http://127.0.0.1:9000' })).toEqual([]);
    expect(faultyNames({ ...ALONE, SERVICE_CAS_URL: 'http://localhost:9000/cas' })).toEqual([]);
  });
});

test('administrators need a sign-in service, and their port needs administrators', () => {
  expect(faultyNames({ ADMIN_IDS: '20080117,20110042', ADMIN_PORT: '9091' })).toEqual([]);
  expect(faultyNames({ ADMIN_IDS: '20080117', SIGN_IN: 'off' })).toContain('ADMIN_IDS');
  expect(faultyNames({ ADMIN_PORT: '9091' })).toEqual(['ADMIN_PORT']);
  expect(faultyNames({ ADMIN_IDS: 'a b' })).toEqual(['ADMIN_IDS']);
});
