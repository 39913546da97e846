import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { isReached } from '../../src/cli/setup/trials.ts';
import { folderWith } from '../bot/config/environments.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { DOWN, ENTER, endSetups, MAIN, questions, typeSetup, type Typed } from '../support/typed-setup.ts';
import { untilTrue } from '../support/until-true.ts';
import { WalkPage } from '../support/walk-page.ts';

jest.setTimeout(400_000);
const inBrowser = findChromium() === undefined ? describe.skip : describe;

/** An administrator's answers about the platform, and the settings that lead to the simulator of it. */
interface PlatformRow {
  platform: 'wecom' | 'slack';
  /** Lines down to the platform in the first question. */
  down: number;
  simulated: readonly string[];
  /** The settings that one line holds. */
  line: readonly [first: 'WECOM_BOT_ID' | 'SLACK_SIGNING_SECRET', ...string[]];
}

const PLATFORMS: readonly PlatformRow[] = [
  {
    platform: 'wecom',
    down: 1,
    simulated: ['WECOM_API_URL', 'WECOM_OPEN_URL', 'WECOM_WS_URL'],
    line: ['WECOM_BOT_ID', 'WECOM_BOT_SECRET', 'WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'],
  },
  {
    platform: 'slack',
    down: 4,
    simulated: ['SLACK_API_URL', 'SLACK_OPEN_URL'],
    line: ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN', 'SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'],
  },
];
const PEOPLE = {
  en: { person: 'emma.clarke', password: 'harbour-violin-3', ask: 'What can I try?', lang: 'en_GB.UTF-8' },
  zh: { person: 'linxiaoyu', password: 'quiet-lantern-7', ask: '我可以试些什么？', lang: 'zh_CN.UTF-8' },
} as const;
const LOCALES = { en: 'en-GB', zh: 'zh-CN' };
const MAX_QUESTIONS = 10;

inBrowser.each(PLATFORMS)('an administrator of $platform', ({ platform, down, simulated, line }) => {
  let browser: Browser;
  let around: Deployment;
  beforeAll(async () => {
    [browser, around] = await Promise.all([
      launchChromium(),
      startDeployment({ protocol: platform, startsBot: false, isConnected: platform === 'wecom' }),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await around.stop();
  });

  // Each has data of its own, since the key that setup creates is new.
  let redis: TestRedis;
  let parley: ParleyProcess | undefined;
  beforeEach(async () => void (redis = await startTestRedis()));
  afterEach(async () => {
    endSetups();
    parley?.kill('SIGTERM');
    await parley?.ended;
    parley = undefined;
    await redis.stop();
  });

  const take = (names: readonly string[]) => names.map((name) => [name, around.env[name] ?? ''] as const);

  test.each(['en', 'zh'] as const)(
    'sets up everything by setup alone, and a student asks on a phone [%s]',
    async (language) => {
      const { person, password, ask, lang } = PEOPLE[language];
      const q = questions(language);
      const { PORT = '', PUBLIC_URL = '', CHAT_BASE_URL = '', CHAT_API_KEY = '', SIGN_IN_URL = '' } = around.env;
      const hosts = [['PORT', PORT], ['HOST', '127.0.0.1'], ['DEFAULT_LANGUAGE', language], ...take(simulated)];
      const cwd = folderWith({ 'config/.env': hosts.map((pair) => `${pair.join('=')}\n`).join('') });
      const isAtHome = await isReached('redis://127.0.0.1:6379');
      const client = take(['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET']).map(([, value]) => value);
      const answers: Typed[] = [
        [q('MESSENGER_PROTOCOL'), DOWN.repeat(down) + ENTER],
        ...(isAtHome ? [] : [[q('REDIS_URL'), `\u0015${redis.url}${ENTER}`] as const]),
        [q('PUBLIC_URL'), PUBLIC_URL + ENTER],
        [
          q(line[0]),
          take(line)
            .map(([, value]) => value)
            .join(' ') + ENTER,
        ],
        [q('CHAT_BASE_URL'), CHAT_BASE_URL + ENTER],
        [q('CHAT_API_KEY'), CHAT_API_KEY + ENTER],
        [q('SIGN_IN_URL'), SIGN_IN_URL + ENTER],
        [q('SIGN_IN_CLIENT_ID'), client.join(' ') + ENTER],
        [q('summary'), ENTER],
      ];
      expect(answers.length).toBeLessThanOrEqual(MAX_QUESTIONS);
      const { exitCode, output } = await typeSetup(cwd, answers, { LANG: lang });
      expect([exitCode, output]).toEqual([0, expect.stringContaining(q('summary'))]);

      parley = await startParleyProcess({ cwd, env: {}, command: ['node', MAIN, 'start', '--no-open'] });
      const isReady = () =>
        fetch(`${PUBLIC_URL}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await untilTrue(async () => (await isReady()) && around.messenger.driver.isBotReachable(), 60_000);
      const check = await startParleyProcess({ cwd, env: {}, command: ['node', MAIN, 'check'] });
      expect([await check.ended, check.output()]).toEqual([0, expect.not.stringMatching(/^(?:fault|warning)/m)]);

      const walker = { url: around.messenger.url, person, password };
      const phone = {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
        locale: LOCALES[language],
      };
      const student = await WalkPage.open(browser, { ...walker, options: { ...phone, colorScheme: 'dark' } });
      const picture = (name: string) => `${platform}-${language}-${name}`;
      await student.openChat('private');
      await student.send(ask);
      await student.page.locator('a[href*="/link/"]').waitFor();
      await student.picture(picture('phone-invitation'));
      expect(await student.isWiderThanWindow()).toBe(false);
      await student.signIn(picture('phone-sign-in'));
      await student.answered(/\p{L}/u);
      await student.send('/whoami');
      await student.answered(person);
      await student.picture(picture('phone-answer'));
      expect(await student.isWiderThanWindow()).toBe(false);
      await student.close();

      const desk = await WalkPage.open(browser, {
        ...walker,
        options: { viewport: { width: 1200, height: 850 }, locale: LOCALES[language] },
      });
      await desk.openChat('group');
      await desk.send(`@Parley ${ask}`);
      await desk.answered(/\p{L}/u);
      await desk.picture(picture('desk-group'));
      await desk.close();
    },
  );
});
