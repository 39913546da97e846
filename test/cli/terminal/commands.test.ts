import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ADMIN_SUBCOMMANDS } from '../../../src/cli/admin/admin-subcommands.ts';
import { readCommandLine } from '../../../src/cli/command-line.ts';
import { translatorTo } from '../../../src/cli/terminal/translate.ts';
import { startParleyProcess } from '../../support/parley-process.ts';

const COMMANDS = [
  'start',
  'setup',
  'check',
  'eval',
  'feedback',
  'admin',
  'hash-password',
  'slack-manifest',
  'completion',
];
const SUBCOMMANDS = ADMIN_SUBCOMMANDS.map(({ name }) => ['admin', name]);
const folder = mkdtempSync(join(tmpdir(), 'parley-terminal-test-'));
writeFileSync(join(folder, 'empty.yaml'), '[]');
afterAll(() => rmSync(folder, { recursive: true }));
const LANGUAGES = { en: 'en_US.UTF-8', zh: 'zh_CN.UTF-8' } as const;

describe('the help', () => {
  const help = (language: 'en' | 'zh', ...args: string[]) => {
    const asked = readCommandLine(args, { npmScript: '', translate: translatorTo(language) });
    return 'text' in asked ? asked.text : '';
  };

  test.each([
    ['--help'],
    ...[...COMMANDS.map((command) => [command]), ...SUBCOMMANDS].map((call) => [...call, '--help']),
  ])('of %s %s %s is Chinese', (...args) => {
    const english = help('en', ...args).split('\n');
    const chinese = help('zh', ...args);
    expect(english.join('\n')).not.toMatch(/\p{Script=Han}/u);
    // Calls of commands, names of options and values are the same in both languages.
    const isWords = (line: string) =>
      / {2,}(?!parley|printf)(?:[a-z]+ ){3}/.test(line) || /^(?:Usage|Options|Commands):/.test(line);
    expect(english.filter((line) => isWords(line) && chinese.includes(line))).toEqual([]);
  });

  test.each([
    [['--noopen'], '错误：未知的选项 --noopen'],
    [['chekc'], '（你要用的是 check 吗？）'],
    [['eval', '--per-minute', '0'], '应为 1 到 600 的数字。'],
    [['check', '--as', 'x', '--sign-in'], '应为人员和地点'],
    [['slack-manifest', '--lang', 'fr'], '可选值为 en, zh'],
    [['eval', 'a', 'b'], '参数过多'],
  ])('complains about %j in Chinese', (args, complaint) => {
    const asked = readCommandLine(args, { npmScript: '', translate: translatorTo('zh') });
    expect(asked).toEqual({ command: 'wrong', complaint: expect.stringContaining(complaint) });
  });
});

/** What each command says in each language. */
const SAID: readonly (readonly [args: string[], env: Record<string, string>, en: string, zh: string])[] = [
  [['start'], { PORT: 'eighty' }, 'PORT must be a whole number', 'Parley 无法启动：有 1 项设置需要改正\n  PORT 必须是'],
  [['setup', '--yes'], { SLACK_BOT_TOKEN: 'xoxb-1' }, 'from the environment', '从环境变量读取'],
  [['check'], { PORT: 'eighty' }, 'No service was checked', '没有检查任何服务'],
  [['check'], {}, '0 to fix', '0 项需要处理'],
  [['check', '--as', 'JG 3100 private'], {}, 'in a private chat', '企业微信私聊'],
  [['check', '--sign-in'], { SIGN_IN: 'off' }, 'Sign-in is off', '登录已关闭'],
  [['eval', 'none.yaml'], {}, 'cannot be read (ENOENT)', '无法读取'],
  [['eval', 'empty.yaml'], {}, 'contains no questions', '没有问题'],
  [['feedback'], {}, 'run npm start first', '请先运行 npm start'],
  [['admin'], {}, 'dead-letters', '列出被放弃'],
  [['admin', 'dead-letters'], {}, 'run npm start first', '请先运行 npm start'],
  [['admin', 'dead-letter'], {}, "unknown command 'dead-letter'", '未知的命令 dead-letter'],
  [['hash-password'], {}, 'No password was given', '没有收到密码'],
  [['slack-manifest'], { PUBLIC_URL: 'http://127.0.0.1' }, 'accepts only https', '只接受 https 地址'],
];

describe.each(Object.entries(LANGUAGES))('in %s', (language, locale) => {
  test.each(SAID.map((row) => [row[0].join(' '), row] as const))('%s', async (_title, [args, env, en, zh]) => {
    const parley = await startParleyProcess({
      command: ['node', join(process.cwd(), 'dist/main.js'), ...args],
      ...{ cwd: folder, env: { LOG_LEVEL: 'silent', LANG: locale, ...env } },
    });
    await parley.ended;
    expect(parley.output()).toContain(language === 'zh' ? zh : en);
    if (language === 'en') expect(parley.output()).not.toMatch(/\p{Script=Han}/u);
  });

  test('check --json is the same in each language', async () => {
    const parley = await startParleyProcess({
      command: ['node', join(process.cwd(), 'dist/main.js'), 'check', '--json'],
      ...{ cwd: folder, env: { LOG_LEVEL: 'silent', LANG: locale } },
    });
    await parley.ended;
    expect(JSON.parse(parley.output())).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'Files', verdict: 'ok' })]),
    });
  });
});
