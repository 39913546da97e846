import { describe, expect, test } from '@jest/globals';
import { terminalLanguage } from '../../../src/cli/terminal/terminal-language.ts';
import { CHINESE, columnsOf, columnsUpTo, padColumns, translatorTo } from '../../../src/cli/terminal/translate.ts';

const translate = translatorTo('zh');

test.each([
  [{}, 'en'],
  [{ LANG: 'zh_CN.UTF-8' }, 'zh'],
  [{ LANG: 'en_US.UTF-8' }, 'en'],
  [{ LANG: 'zh_CN.UTF-8', LC_ALL: 'en_US.UTF-8' }, 'en'],
  [{ LANG: 'zh_CN.UTF-8', LC_MESSAGES: 'en_US.UTF-8' }, 'en'],
  [{ LANG: 'zh_CN.UTF-8', LC_ALL: '' }, 'zh'],
  [{ LANG: 'en_US.UTF-8', LANGUAGE: 'zh_CN:en' }, 'zh'],
  [{ LANG: 'zh_CN.UTF-8', LANGUAGE: 'en:zh' }, 'en'],
  [{ LANG: 'zh_CN.UTF-8', LANGUAGE: '' }, 'zh'],
  [{ LANG: 'C.UTF-8', LANGUAGE: 'zh' }, 'en'],
  [{ LANGUAGE: 'zh' }, 'en'],
  [{ LANG: 'de_DE.UTF-8' }, 'en'],
])('the locale %j is %s', (env, language) => {
  expect(terminalLanguage(env)).toBe(language);
});

describe('a text of the terminal', () => {
  test.each([
    ['cannot be reached (ECONNREFUSED)', '无法连接（ECONNREFUSED）'],
    ['  Redis answers.\n', '  Redis 已有响应。\n'],
    ['PORT must be a whole number from 0 to 65535', 'PORT 必须是 0 到 65535 之间的整数'],
    ['POLICY_FILE (/p.json): rules[0].who: Must not be empty', 'POLICY_FILE（/p.json）：rules[0].who：不能为空'],
    [
      'SIGN_IN_CLIENT_ID is missing: set it to the value issued by the sign-in service at SIGN_IN_URL',
      'SIGN_IN_CLIENT_ID 未设置：请设为 SIGN_IN_URL 的登录服务签发的值',
    ],
    ['PORT 80 is taken by nginx (process 12)', 'PORT 80 已被 nginx（进程 12）占用'],
    [
      'No one can sign in. Sign-in service: does not answer. Check SIGN_IN_URL and that this machine can reach it.',
      '无法登录。登录服务：没有响应。请检查 SIGN_IN_URL，并确认本机可以访问。',
    ],
    [
      `${'0'.repeat(40)}  2026-11-29T20:00:00.000Z  its workers crashed, messages: 2, replayed 2026-11-29T20:05:00.000Z`,
      `${'0'.repeat(40)}  2026-11-29T20:00:00.000Z  工作进程崩溃，消息 2 条，已于 2026-11-29T20:05:00.000Z 重放`,
    ],
    [
      '2026-11-29T20:00:00.000Z  claimed epoch=7 worker=x_Y crashes=1',
      '2026-11-29T20:00:00.000Z  已领取 epoch=7 worker=x_Y crashes=1',
    ],
    ['2026-11-29  questions: 3, tokens: 120', '2026-11-29  提问 3 次，token 120'],
    [
      '2026-11-29  questions: 3, tokens: 120, costs: 0.0028 CNY + 1 USD',
      '2026-11-29  提问 3 次，token 120，费用 0.0028 CNY + 1 USD',
    ],
    ['Parley is running in local mode.', 'Parley 正在本地模式运行。'],
    ['Parley has started, but not all of it works yet:', 'Parley 已启动，但还有部分功能不可用：'],
    [
      'Open http://127.0.0.1:8082 in a browser, choose a user, and write to the bot. Your browser opens it automatically.',
      '请在浏览器中打开 http://127.0.0.1:8082（会自动打开），选择一个用户，给机器人发消息。',
    ],
    [
      '2 running answers are being finished, for at most 25 seconds. Press Ctrl+C again to stop immediately.',
      '正在完成 2 条回答，最多 25 秒。再按一次 Ctrl+C 立即停止。',
    ],
    [
      'Waiting for the last calls to the chat app, for at most 25 seconds. Press Ctrl+C again to stop immediately.',
      '正在等待对办公应用的最后几次调用，最多 25 秒。再按一次 Ctrl+C 立即停止。',
    ],
    [
      'a, b are not in MODELS_FILE, so they can use text and tools, but no images or thinking. Run npm run check for suggested entries.',
      'a, b 不在 MODELS_FILE 中，只能使用文字和工具，不能使用图片和思考。运行 npm run check 可查看建议条目。',
    ],
    [
      '400, JSON with error, error_description (invalid_grant)',
      '400，JSON，字段 error, error_description（invalid_grant）',
    ],
    ['200, text of 7 characters', '200，7 个字符的文字'],
    ['the access token still works; the refresh token is invalid', 'access token 仍可用；refresh token 已失效'],
    ['3600: 1 h as seconds, 3.6 s as milliseconds', '3600：按秒为 1 小时，按毫秒为 3.6 秒'],
    [
      'CHAT_BASE_URL leads to another machine, but no platform is configured. Set WECOM_BOT_TOKEN and WECOM_BOT_AES_KEY, or SLACK_SIGNING_SECRET and SLACK_BOT_TOKEN; for local mode set MESSENGER_PROTOCOL=wecom, or remove CHAT_BASE_URL',
      'CHAT_BASE_URL 指向其他机器，但没有配置办公应用。请设置 WECOM_BOT_TOKEN 和 WECOM_BOT_AES_KEY，或 SLACK_SIGNING_SECRET 和 SLACK_BOT_TOKEN；如需本地模式，请设置 MESSENGER_PROTOCOL=wecom，或移除 CHAT_BASE_URL',
    ],
    [
      'CHAT_BASE_URL, REDIS_URL, SECRET_KEY are required too, because a platform is configured; for local mode remove the empty line',
      '需要 CHAT_BASE_URL、REDIS_URL、SECRET_KEY，因为配置了办公应用；如需本地模式，请删除空行',
    ],
    ['PORTT is not a setting of Parley; did you mean PORT?', 'PORTT 不是 Parley 的设置，你要用的是 PORT 吗？'],
    ['LOG_LEVEL must be trace, debug, info or warn', 'LOG_LEVEL 必须是 trace, debug, info 或 warn'],
    ['Campus: 7 documents in /docs; 1 file is skipped', 'Campus：/docs 中有 7 个文档；跳过 1 个文件'],
    ['JG of department 3100, in a private chat on WeCom', '部门 3100 的 JG，企业微信私聊'],
    [
      'embedded; to use a real one, set the credentials of WeCom or Slack',
      '内置；如需使用真实的办公应用，请设置企业微信或 Slack 的凭证',
    ],
    ['3 checks passed, 1 hint, 0 warnings, 2 to fix', '3 项正常，1 条提示，0 条警告，2 项需要处理'],
  ])('is translated with its values: %s', (english, chinese) => {
    expect(translate(english)).toBe(chinese);
    expect(translatorTo('en')(english)).toBe(english);
  });

  test.each(['{"level":"info","msg":"shutting down"}', 'Who are you and what do you do?', 'a, b; c', ''])(
    'without a translation stays as it is: %s',
    (text) => expect(translate(text)).toBe(text),
  );
});

test('each translation is Chinese and has the values of its English text', () => {
  const valuesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  const entries = Object.entries(CHINESE);
  expect(entries.length).toBeGreaterThan(700);
  expect(entries.filter(([en, zh]) => valuesOf(zh).join() !== valuesOf(en).join())).toEqual([]);
  const hasWords = (text: string) => /[a-z]{2}/i.test(text.replace(/\{\w+\}/g, ''));
  const english = entries.filter(([en, zh]) => hasWords(en) && !/\p{Script=Han}/u.test(zh)).map(([, zh]) => zh);
  expect(english).toEqual(['issuer', 'access token', 'state']);
});

test('Chinese characters take two columns', () => {
  expect([columnsOf('ok'), columnsOf('登录服务'), columnsOf('Slack（一）')]).toEqual([2, 8, 11]);
  expect([padColumns('登录', 6), padColumns('long', 2), columnsUpTo('登录服务', 5)]).toEqual([
    '登录  ',
    'long',
    '登录',
  ]);
});
