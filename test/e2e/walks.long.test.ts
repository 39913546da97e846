import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { isReached } from '../../src/cli/setup/trials.ts';
import { sayIn } from '../../src/simulator/web/page-texts.ts';
import { tourIn } from '../../src/simulator/web/tour/tour-texts.ts';
import { STEPS } from '../../src/simulator/web/tour/what-happened.ts';
import { folderWith } from '../bot/config/environments.ts';
import { helloStream, jsonOf, startScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { openPrintedPage, PAGE_IS_UP } from '../support/printed-page.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { screenAfter } from '../support/terminal-screen.ts';
import { DOWN, ENTER, endSetups, MAIN, questions, typeSetup, type Typed } from '../support/typed-setup.ts';
import { untilTrue } from '../support/until-true.ts';
import { ANY_TEXT, DESK, PHONE, pictureOfTerminal, TAKES_PICTURES, WalkPage } from '../support/walk-page.ts';

jest.setTimeout(540_000);
/** Maximum time for a start on a busy machine. */
const START_MS = 120_000;
const inBrowser = findChromium() === undefined ? describe.skip : describe;

const LANGUAGES = {
  en: {
    ...{ locale: 'en-GB', LANG: 'en_GB.UTF-8', student: 'daniel.okoye', password: 'amber-notebook-9' },
    ...{ ask: 'What can I try?', aboutImage: 'What is in this image?', followUp: 'What did I ask before?' },
  },
  zh: {
    ...{ locale: 'zh-CN', LANG: 'zh_CN.UTF-8', student: 'linxiaoyu', password: 'quiet-lantern-7' },
    ...{ ask: '可以试什么？', aboutImage: '这张图片里有什么？', followUp: '我刚才问了什么？' },
  },
} as const;
type Language = keyof typeof LANGUAGES;
const BOTH: readonly Language[] = ['en', 'zh'];
const PICTURE = 'docs/pictures/words.png';

let browser: Browser;
beforeAll(async () => {
  if (findChromium() !== undefined) browser = await launchChromium();
});
afterAll(() => browser.close());

inBrowser.each(TAKES_PICTURES ? BOTH : ['en' as const])('a curious developer [%s]', (language) => {
  const { locale, LANG, ask } = LANGUAGES[language];
  const [say, sayOfPage] = [tourIn(language), sayIn(language)];
  const name = (step: string) => `developer-${language}-${step}`;
  let parley: ParleyProcess | undefined;
  afterAll(async () => {
    parley?.kill('SIGTERM');
    await parley?.ended;
  });

  test('starts Parley in an empty folder, completes the tour and connects an engine', async () => {
    const engine = await startScriptedChatServer();
    const whole = jsonOf({ choices: [{ message: { content: 'OK' } }] });
    const streamed = helloStream('Here is your engine.');
    // The search for engines and the trial are not streamed.
    engine.script((response, call) => (call.body['stream'] === true ? streamed : whole)(response, call));
    const [PORT, SERVICE_PORT, MESSENGER_PORT] = [await freePort(), await freePort(), await freePort()].map(String);
    parley = await startParleyProcess({
      cwd: folderWith(),
      command: ['node', MAIN, 'start', '--no-open'],
      env: {
        ...({ PORT, SERVICE_PORT, MESSENGER_PORT } as Record<string, string>),
        ...{ LANG, LOG_LEVEL: 'info', LOCAL_ENGINE_PORTS: new URL(engine.baseUrl).port },
      },
    });
    await untilTrue(() => PAGE_IS_UP.test(parley?.output() ?? ''), START_MS);
    const { address } = await openPrintedPage(parley.output());
    await pictureOfTerminal(browser, name('terminal'), parley.output());
    const desk = await WalkPage.open(browser, { address, options: { ...DESK, locale } });
    const { page } = desk;
    const press = (text: string) => page.getByRole('button', { name: text, exact: true }).last().click();
    const isDone = (count: number) =>
      page
        .locator('.ribbon-count')
        .filter({ hasText: say('tourDone', { done: count, all: STEPS.length }) })
        .waitFor();

    await page.getByText(say('whoTitle')).waitFor();
    await desk.picture(name('first-screen'));
    await press(say('askAction'));
    await desk.signIn(name('sign-in'));
    await desk.answered(ANY_TEXT);
    await isDone(2);
    await desk.picture(name('answer'));
    await press(say('mentionAction'));
    await desk.send(`@Parley ${ask}`);
    await desk.answered(ANY_TEXT);
    await isDone(3);
    await desk.picture(name('group'));
    await press(say('imageAction'));
    await isDone(4);
    await desk.answered('320');
    await desk.picture(name('image'));
    await press(say('longAction'));
    await desk.growing('1 2 3');
    await press(sayOfPage('stop'));
    await isDone(5);
    await press(say('tryAgainAction'));
    await isDone(6);
    await desk.growing('1 2 3');
    await press(say('killAction'));
    await page.locator('.kill-lines li').nth(2).waitFor();
    await desk.picture(name('kill'));
    await press(sayOfPage('stop'));
    await isDone(7);
    const tab = page.context().waitForEvent('page');
    await page.locator('a.tour-action').click();
    await page.getByText(say('tourOver')).waitFor();
    await (await tab).close();
    await desk.picture(name('tour-over'));

    await press(say('connectModel'));
    await page.getByRole('button', { name: /127\.0\.0\.1/ }).waitFor();
    await desk.picture(name('engines'));
    await page.getByRole('button', { name: /127\.0\.0\.1/ }).click();
    await page.getByText(say('modelWorks', { model: 'svc-plus' })).waitFor();
    await desk.picture(name('engine-in-use'));
    await press(say('done'));
    await desk.send(ask);
    await desk.answered('Here is your engine.');
    await desk.picture(name('engine-answer'));
    await desk.close();
    await engine.stop();
  });
});

/** An administrator's answers about the platform, and the settings that lead to its simulator. */
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
const MAX_QUESTIONS = 10;
/** Without pictures, each platform in one language. */
const ADMINISTRATORS = PLATFORMS.flatMap((row, index) =>
  BOTH.filter((_language, at) => TAKES_PICTURES || at === index).map((language) => ({ ...row, language })),
);

inBrowser.each(ADMINISTRATORS)('an administrator of $platform [$language]', ({ language, ...row }) => {
  const { locale, LANG, student, password, ask, aboutImage, followUp } = LANGUAGES[language];
  const { platform, down, simulated, line } = row;
  const name = (step: string) => `${platform}-${language}-${step}`;
  let around: Deployment;
  // The key that setup creates is new, and so is the data.
  let redis: TestRedis;
  let parley: ParleyProcess | undefined;
  beforeAll(async () => {
    [around, redis] = await Promise.all([
      startDeployment({
        ...{ protocol: platform, startsBot: false, isConnected: platform === 'wecom' },
        messenger: { groups: [{ id: 'wrtown', name: 'Town hall', members: ['zhangwei', student] }] },
      }),
      startTestRedis(),
    ]);
  });
  afterEach(endSetups);
  afterAll(async () => {
    parley?.kill('SIGTERM');
    await parley?.ended;
    await around.stop();
    await redis.stop();
  });
  const take = (names: readonly string[]) => names.map((setting) => around.env[setting] ?? '');

  test('sets up, checks and starts Parley with at most 10 answers', async () => {
    const q = questions(language);
    const { PORT = '', PUBLIC_URL = '', CHAT_BASE_URL = '', CHAT_API_KEY = '', SIGN_IN_URL = '' } = around.env;
    const hosts = { PORT, HOST: '127.0.0.1', DEFAULT_LANGUAGE: language };
    const places = simulated.map((setting) => [setting, around.env[setting] ?? '']);
    const file = [...Object.entries(hosts), ...places].map((pair) => `${pair.join('=')}\n`).join('');
    const cwd = folderWith({ 'config/.env': file });
    // Setup takes a Redis at its usual address without a question.
    const isAtHome = await isReached('redis://127.0.0.1:6379');
    const answers: Typed[] = [
      [q('MESSENGER_PROTOCOL'), DOWN.repeat(down) + ENTER],
      ...(isAtHome ? [] : [[q('REDIS_URL'), `\u0015${redis.url}${ENTER}`] as const]),
      [q('PUBLIC_URL'), PUBLIC_URL + ENTER],
      [q(line[0]), take(line).join(' ') + ENTER],
      [q('CHAT_BASE_URL'), CHAT_BASE_URL + ENTER],
      [q('CHAT_API_KEY'), CHAT_API_KEY + ENTER],
      [q('SIGN_IN_URL'), SIGN_IN_URL + ENTER],
      [q('SIGN_IN_CLIENT_ID'), take(['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET']).join(' ') + ENTER],
      [q('summary'), ENTER],
    ];
    expect(answers.length).toBeLessThanOrEqual(MAX_QUESTIONS);
    const { exitCode, output } = await typeSetup(cwd, answers, { LANG });
    await pictureOfTerminal(browser, name('setup'), output);
    expect([exitCode, screenAfter(output)]).toEqual([0, expect.stringContaining(q('summary'))]);

    const env = { LANG, LOG_LEVEL: 'info' };
    parley = await startParleyProcess({ cwd, env, command: ['node', MAIN, 'start', '--no-open'] });
    const isReady = () =>
      fetch(`${PUBLIC_URL}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await untilTrue(async () => (await isReady()) && around.messenger.driver.isBotReachable(), START_MS);
    const check = await startParleyProcess({ cwd, env: { LANG }, command: ['node', MAIN, 'check'] });
    const checked = await check.ended;
    await pictureOfTerminal(browser, name('check'), check.output());
    await pictureOfTerminal(browser, name('start'), parley.output());
    expect([checked, check.output()]).toEqual([0, expect.not.stringMatching(/^(?:fault|warning|错误|警告)/m)]);
  });

  test('lets a student sign in on a phone, ask, send a picture and ask a follow-up question', async () => {
    const address = `${around.messenger.url}/?person=${student}`;
    const login = { username: student, password };
    const phone = await WalkPage.open(browser, { address, login, options: { ...PHONE, locale, colorScheme: 'dark' } });
    await phone.picture(name('phone-first'));
    await phone.openChat('private');
    await phone.send(ask);
    await phone.page.locator('a[href*="/link/"]').waitFor();
    await phone.picture(name('phone-invitation'));
    expect(await phone.isWiderThanWindow()).toBe(false);
    await phone.signIn(name('phone-sign-in'));
    await phone.answered(ANY_TEXT);
    await phone.picture(name('phone-answer'));
    await phone.attach(PICTURE);
    await phone.send(aboutImage);
    await phone.answered('PNG');
    await phone.picture(name('phone-picture'));
    await phone.send(followUp);
    await phone.answered(aboutImage);
    await phone.picture(name('phone-follow-up'));
    expect(await phone.isWiderThanWindow()).toBe(false);
    await phone.close();

    const desk = await WalkPage.open(browser, { address, login, options: { ...DESK, locale } });
    await desk.openChat('group');
    await desk.send(`@Parley ${ask}`);
    await desk.answered(ANY_TEXT);
    await desk.picture(name('desk-group'));
    await desk.close();
  });
});
