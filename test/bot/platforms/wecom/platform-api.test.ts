import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encryptPadded } from '../../../../src/bot/platforms/wecom/crypto.ts';
import type { WebSignInCallback } from '../../../../src/bot/platforms/platform.ts';
import { downloadMedia } from '../../../../src/bot/turn/images/download-media.ts';
import { recordingLog } from '../../../support/redis.ts';
import { startFakeApi, type ApiAnswer, type FakeApi } from './fake-api.ts';
import { AES_KEY, memoryTokens, NOW_MS, wecom } from './support.ts';

const SEND = '/cgi-bin/message/send';
const USER_INFO = '/cgi-bin/auth/getuserinfo';
const CONVERT = '/cgi-bin/batch/openuserid_to_userid';
const USER = '/cgi-bin/user/get';
const AGENT = { corpId: 'ww1', agentId: '1000002', secret: 'the-app-secret' };
const OPEN_ID = 'woAJ2GCAAAXtWyujaWJHDDGi0mAAAA';

let api: FakeApi;
let nowMs = NOW_MS;

beforeEach(async () => {
  api = await startFakeApi();
  nowMs = NOW_MS;
});
afterEach(() => api.close());

function app(options: Parameters<typeof wecom>[0] = {}) {
  return wecom({ agent: AGENT, addresses: { apiUrl: api.url }, nowMs: () => nowMs, ...options });
}

/** A browser returning with this code. */
function back(code: string): WebSignInCallback {
  return { code, query: new URLSearchParams({ code }), redirectUri: 'https://bot.test/', state: 'a1', kept: '' };
}

describe('WeCom access token', () => {
  test('is fetched once for concurrent calls and kept until 5 minutes before it expires', async () => {
    api.answers.set(USER_INFO, { errcode: 0, userid: 'lisi' });
    const { webSignIn } = app();
    await Promise.all(Array.from({ length: 10 }, async () => webSignIn?.identify(back('C'))));
    expect(api.calls('/cgi-bin/gettoken')).toHaveLength(1);
    expect(api.calls('/cgi-bin/gettoken')[0]?.query.toString()).toBe('corpid=ww1&corpsecret=the-app-secret');
    expect(api.calls(USER_INFO).every(({ query }) => query.get('access_token') === 'token-1')).toBe(true);
    nowMs += 7_200_000 - 300_000 - 1;
    await webSignIn?.identify(back('C'));
    expect(api.calls('/cgi-bin/gettoken')).toHaveLength(1);
    nowMs += 1;
    await webSignIn?.identify(back('C'));
    expect(api.calls('/cgi-bin/gettoken')).toHaveLength(2);
  });

  test('is shared by processes through the store', async () => {
    api.answers.set(USER_INFO, { errcode: 0, userid: 'lisi' });
    const tokenStore = memoryTokens();
    await app({ tokenStore }).webSignIn?.identify(back('C'));
    await app({ tokenStore }).webSignIn?.identify(back('C'));
    expect(api.calls('/cgi-bin/gettoken')).toHaveLength(1);
    expect([...tokenStore.kept.values()]).toEqual([{ token: 'token-1', expiresAtMs: NOW_MS + 6_900_000 }]);
  });

  test('is fetched by each process when the store fails', async () => {
    api.answers.set(USER_INFO, { errcode: 0, userid: 'lisi' });
    const away = () => Promise.reject(new Error('away'));
    const { log, lines } = recordingLog();
    await expect(
      app({ tokenStore: { read: away, write: away }, log }).webSignIn?.identify(back('C')),
    ).resolves.toMatchObject({
      userId: 'lisi',
    });
    expect(lines.join('')).not.toContain('token-1');
  });

  test.each([40_014, 42_001, 41_001])('is fetched again once when WeCom refuses it (%i)', async (errcode) => {
    api.answers.set(USER_INFO, ({ query }) =>
      query.get('access_token') === 'token-1' ? { errcode } : { errcode: 0, userid: 'lisi' },
    );
    await expect(app().webSignIn?.identify(back('C'))).resolves.toEqual({ userId: 'lisi', tenant: 'ww1' });
    api.answers.set(USER_INFO, { errcode });
    await expect(app().webSignIn?.identify(back('C'))).rejects.toMatchObject({
      code: 'refused',
      platformCode: errcode,
    });
    expect(api.calls(USER_INFO)).toHaveLength(4);
  });

  test('does not appear in errors or logs, nor do the secret and the code', async () => {
    const { log, lines } = recordingLog();
    for (const answer of ['cut', 500, { errcode: 60_020 }] as const) {
      api.answers.set(USER_INFO, answer);
      const error = await app({ log })
        .webSignIn?.identify(back('THECODE'))
        .catch((thrown: unknown) => thrown);
      log.warn({ error }, 'failed');
    }
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toMatch(/token-\d|the-app-secret|THECODE/);
  });
});

describe('WeCom web sign-in', () => {
  test('builds WeCom’s authorisation address', async () => {
    const webSignIn = app({ addresses: { apiUrl: api.url, openUrl: 'https://open.weixin.qq.com/' } }).webSignIn;
    const departure = await webSignIn?.startAuthorization({
      redirectUri: 'https://bot.test/oauth/platform/wecom/callback',
      state: 'a1B2',
    });
    expect(departure?.location).toBe(
      'https://open.weixin.qq.com/connect/oauth2/authorize?appid=ww1&redirect_uri=https%3A%2F%2Fbot.test%2Foauth%2Fplatform%2Fwecom%2Fcallback' +
        '&response_type=code&scope=snsapi_base&state=a1B2&agentid=1000002#wechat_redirect',
    );
    expect(() => webSignIn?.startAuthorization({ redirectUri: 'https://bot.test/', state: 'a-b' })).toThrow(RangeError);
  });

  test('distinguishes an outsider, a used code and an unreachable API', async () => {
    api.answers.set(USER_INFO, { errcode: 0, openid: 'OUTSIDE' });
    await expect(app().webSignIn?.identify(back('C'))).rejects.toMatchObject({ code: 'not_a_member' });
    api.answers.set(USER_INFO, { errcode: 40_029 });
    await expect(app().webSignIn?.identify(back('C'))).rejects.toMatchObject({ code: 'code_refused' });
    await api.close();
    await expect(app().webSignIn?.identify(back('C'))).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('is unavailable without the self-built app', () => {
    const bare = wecom();
    expect(bare.webSignIn).toBeUndefined();
    expect(bare.writePrivately).toBeUndefined();
  });
});

describe('WeCom later replies', () => {
  const post = (answer: object | number | 'cut', text = 'the answer') => {
    api.answers.set('/reply', answer);
    return app().replyLater?.(`${api.url}/reply?response_code=R`, text);
  };

  test('are posted once, as plain markdown', async () => {
    await expect(post({ errcode: 0 }, 'hello @all')).resolves.toBe('sent');
    expect(api.calls('/reply').map(({ json }) => json)).toEqual([
      { msgtype: 'markdown', markdown: { content: 'hello ＠all' } },
    ]);
  });

  test.each([
    [{ errcode: 40_058 }, 'refused'],
    [{ errcode: -1 }, 'busy'],
    [{ errcode: 45_009 }, 'busy'],
    [{ errcode: 45_033 }, 'busy'],
    [429, 'busy'],
    [{ errcode: 60_020 }, 'unauthorised'],
    [502, 'uncertain'],
    ['cut', 'uncertain'],
  ] as const)('map the response %j to %s', async (answer, result) => {
    await expect(post(answer)).resolves.toBe(result);
  });

  test('never go to another host', async () => {
    await expect(
      app({ addresses: { apiUrl: 'https://wecom.test' } }).replyLater?.(`${api.url}/reply`, 'x'),
    ).resolves.toBe('refused');
    expect(api.requests).toEqual([]);
  });
});

describe('WeCom private messages', () => {
  test('go to one person in pieces that fit, with the duplicate check enabled', async () => {
    api.answers.set(SEND, { errcode: 0, invaliduser: '' });
    await expect(
      app().writePrivately?.('lisi', `Hello <a href="https://t.test">x</a> ${'你'.repeat(1_000)}`),
    ).resolves.toBe('sent');
    const sent = api.calls(SEND).map(({ json }) => json as { touser: string; text: { content: string } });
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatchObject({ touser: 'lisi', msgtype: 'text', agentid: 1_000_002, enable_duplicate_check: 1 });
    expect(sent[0]?.text.content).toMatch(/^Hello ＜a href/);
    expect(sent.every(({ text }) => Buffer.byteLength(text.content) <= 2_048)).toBe(true);
  });

  test('refuse a user id that is not exactly one user', async () => {
    for (const userId of ['@all', 'lisi|wang', '', 'a b']) {
      await expect(app().writePrivately?.(userId, 'x')).resolves.toBe('refused');
    }
    expect(api.calls(SEND)).toEqual([]);
  });

  test.each([
    [{ errcode: 0, invaliduser: 'lisi' }, 'refused'],
    [{ errcode: 81_013 }, 'refused'],
    [{ errcode: 45_009 }, 'busy'],
    [{ errcode: 40_014 }, 'unauthorised'],
    [{ errcode: 60_020 }, 'unauthorised'],
    [{ errcode: 48_002 }, 'unauthorised'],
    ['cut', 'uncertain'],
  ] as const)('map the response %j to %s', async (answer, result) => {
    api.answers.set(SEND, answer);
    await expect(app().writePrivately?.('lisi', 'x')).resolves.toBe(result);
  });
});

test.each([40_001, 40_013])(
  'posts nothing privately and stays retryable when the app’s secret or company is wrong (%i) [looked-up-not-repeated]',
  async (errcode) => {
    api.answers.set('/cgi-bin/gettoken', { errcode });
    await expect(app().writePrivately?.('lisi', 'x')).resolves.toBe('unauthorised');
    expect(api.calls(SEND)).toEqual([]);
  },
);

describe('access fault of WeCom posts', () => {
  const opened = () => {
    const told: string[] = [];
    const platform = app({ refusalCallbacks: { onRefused: (code) => void told.push(code) } });
    const post = (path: '/reply' | typeof SEND, answer: ApiAnswer) => {
      api.answers.set(path, answer);
      return path === SEND ? platform.writePrivately?.('lisi', 'x') : platform.replyLater?.(`${api.url}/reply`, 'x');
    };
    return { told, post, fault: () => platform.access?.fault };
  };

  test.each([SEND, '/reply'] as const)(
    'is the errcode of the last refusal of %s until a post is accepted',
    async (path) => {
      const { told, post, fault } = opened();
      await post(path, { errcode: 60_020 });
      await post(path, { errcode: 40_014 });
      expect(told).toEqual(['60020', '40014']);
      expect(fault()).toBe('40014');
      for (const answer of [{ errcode: -1 }, { errcode: 81_013 }, 502, 'cut'] as const) await post(path, answer);
      expect(told).toHaveLength(2);
      expect(fault()).toBe('40014');
      await post(path, { errcode: 0 });
      expect(fault()).toBeUndefined();
    },
  );

  test('is reported for a wrong secret although no post is sent', async () => {
    const { told, post, fault } = opened();
    api.answers.set('/cgi-bin/gettoken', { errcode: 40_001 });
    await post(SEND, { errcode: 0 });
    expect(told).toEqual(['40001']);
    expect(fault()).toBe('40001');
  });

  test.each([
    ['is cleared for an untrusted IP address by a later post of the app', '/reply', 60_020, SEND, undefined],
    ['is kept for a missing right to replies after a later post of the app', '/reply', 48_002, SEND, '48002'],
    ['is kept for the app after a reply, whose address carries its own permission', SEND, 40_014, '/reply', '40014'],
  ] as const)('%s', async (_, refused, errcode, taken, left) => {
    const { post, fault } = opened();
    await post(refused, { errcode });
    await post(taken, { errcode: 0 });
    expect(fault()).toBe(left);
  });
});

describe('plain WeCom user ids', () => {
  const converts = (pairs: Record<string, string>) =>
    api.answers.set(CONVERT, ({ json }) => {
      const [id = ''] = json['open_userid_list'] as string[];
      return pairs[id] === undefined
        ? { errcode: 0, userid_list: [], invalid_open_userid_list: [id] }
        : { errcode: 0, userid_list: [{ open_userid: id, userid: pairs[id] }] };
    });

  test('are looked up once an hour for an encrypted id', async () => {
    converts({ [OPEN_ID]: 'lisi', short: 'wang' });
    const bot = app();
    await expect(bot.plainUserId(OPEN_ID)).resolves.toBe('lisi');
    await expect(bot.plainUserId(OPEN_ID)).resolves.toBe('lisi');
    await expect(bot.plainUserId('short')).resolves.toBe('wang');
    expect(api.calls(CONVERT)).toHaveLength(2);
    nowMs += 3_600_001;
    await bot.plainUserId(OPEN_ID);
    expect(api.calls(CONVERT)).toHaveLength(3);
  });

  test('are accepted as they are once they are known to exist', async () => {
    converts({});
    api.answers.set(USER, ({ query }) => ({ errcode: query.get('userid') === 'lisi' ? 0 : 60_111 }));
    await expect(app().plainUserId('lisi')).resolves.toBe('lisi');
    await expect(app().plainUserId('nobody')).resolves.toBeUndefined();
    await expect(app().plainUserId(OPEN_ID)).resolves.toBeUndefined();
  });

  test('are judged by their form when the app may not look users up or the API fails', async () => {
    converts({});
    api.answers.set(USER, { errcode: 60_011 });
    await expect(app().plainUserId('lisi')).resolves.toBe('lisi');
    await expect(app().plainUserId(OPEN_ID)).resolves.toBeUndefined();
    api.answers.set(CONVERT, 404);
    await expect(app().plainUserId('lisi')).resolves.toBe('lisi');
    await expect(app().plainUserId(OPEN_ID)).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('are undefined for an encrypted id without the self-built app', async () => {
    await expect(wecom().plainUserId('lisi')).resolves.toBe('lisi');
    await expect(wecom().plainUserId(OPEN_ID)).resolves.toBeUndefined();
  });
});

describe('WeCom media', () => {
  const file = Buffer.from('picture bytes');
  const fetch = (ref: string, maxBytes = 1_000, options = {}) =>
    app(options)
      .fetchMedia(ref, maxBytes, AbortSignal.timeout(5_000))
      .then(({ bytes }) => bytes);

  test('is downloaded and decrypted', async () => {
    api.answers.set('/media', encryptPadded(AES_KEY, file));
    await expect(fetch(`${api.url}/media`)).resolves.toEqual(file);
    await expect(fetch(`${api.url}/media`, file.length)).resolves.toEqual(file);
  });

  test('is refused when too large, missing or not encrypted', async () => {
    api.answers.set('/media', encryptPadded(AES_KEY, file));
    await expect(fetch(`${api.url}/media`, file.length - 1)).rejects.toMatchObject({ code: 'media_too_large' });
    api.answers.set('/media', Buffer.alloc(5_000_000));
    await expect(fetch(`${api.url}/media`)).rejects.toMatchObject({ code: 'media_too_large' });
    api.answers.set('/media', 404);
    await expect(fetch(`${api.url}/media`)).rejects.toMatchObject({ code: 'media_gone' });
    api.answers.set('/media', file);
    await expect(fetch(`${api.url}/media`)).rejects.toMatchObject({ code: 'media_unreadable' });
  });

  test.each([
    'http://127.0.0.1:1/i',
    'https://evil.test/i',
    'https://other-1.cos.ap-guangzhou.myqcloud.com/i',
    'https://ww-aibot-img-1258476243.cos.ap-guangzhou.myqcloud.com.evil.test/i',
    'https://ww-aibot-img-1258476243.cos.ap-guangzhou.myqcloud.com:8443/i',
    'http://ww-aibot-img-1258476243.cos.ap-guangzhou.myqcloud.com/i',
    'https://evilweixin.qq.com/i',
    'file:///etc/passwd',
    'nonsense',
  ])('is refused from the foreign address %s', async (ref) => {
    await expect(fetch(ref)).rejects.toMatchObject({ code: 'media_refused' });
  });

  test.each([408, 429, 500, 502, 503])('is unreachable for the moment with status %i', async (status) => {
    api.answers.set('/media', status);
    await expect(fetch(`${api.url}/media`)).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('is downloaded by a turn after transient failures, but not after a refusal', async () => {
    const answers = [503, 429, encryptPadded(AES_KEY, file)];
    api.answers.set('/media', () => answers.shift() ?? 403);
    const download = (limitMs?: number) =>
      downloadMedia(app(), `${api.url}/media`, 1_000, new AbortController().signal, limitMs);
    expect((await download()).bytes).toEqual(file);
    await expect(download()).rejects.toMatchObject({ code: 'media_gone' });
    api.answers.set('/media', 503);
    await expect(download(700)).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('is not fetched through a redirect', async () => {
    api.answers.set('/media', 302);
    await expect(fetch(`${api.url}/media`)).rejects.toMatchObject({ code: 'media_gone' });
  });

  test('ignores a signal that aborts after the download ended', async () => {
    api.answers.set('/media', encryptPadded(AES_KEY, file));
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    process.on('uncaughtException', note);
    for (const maxBytes of [1_000, 1]) {
      const controller = new AbortController();
      await app()
        .fetchMedia(`${api.url}/media`, maxBytes, controller.signal)
        .catch(() => undefined);
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    process.off('uncaughtException', note);
    expect(errors).toEqual([]);
  });

  test('stops downloading when the turn is aborted', async () => {
    api.answers.set('/media', 'hang');
    const controller = new AbortController();
    const fetching = app().fetchMedia(`${api.url}/media`, 1_000, controller.signal);
    setTimeout(() => controller.abort(new Error('stopped')), 50);
    await expect(fetching).rejects.toThrow('stopped');
  });
});

describe('WeCom settings check', () => {
  test('passes when only the sign-in code is refused', async () => {
    api.answers.set(USER_INFO, { errcode: 40_029 });
    expect((await app().check()).map(({ verdict }) => verdict)).toEqual(['ok', 'ok']);
  });

  test.each([
    ['the secret', '/cgi-bin/gettoken', { errcode: 40_001 }, /WECOM_AGENT_SECRET/],
    ['the company', '/cgi-bin/gettoken', { errcode: 40_013 }, /WECOM_CORP_ID/],
    ['the trusted IP address', USER_INFO, { errcode: 60_020 }, /trusted IP/],
    ['another kind', USER_INFO, { errcode: 99 }, /error 99/],
    ['the network', USER_INFO, 'cut', /WECOM_API_URL/],
  ] as const)('names the next step for a fault of %s', async (_name, path, answer, nextStep) => {
    api.answers.set(path, answer);
    const results = await app().check();
    expect(results[1]).toMatchObject({
      name: 'WeCom app',
      verdict: 'fault',
      nextStep: expect.stringMatching(nextStep),
    });
    expect(JSON.stringify(results)).not.toMatch(/token-1|the-app-secret/);
  });

  test('warns about a missing app and names the setting', async () => {
    expect((await wecom().check())[1]).toMatchObject({
      verdict: 'warning',
      nextStep: expect.stringMatching(/WECOM_CORP_ID/),
    });
  });
});
