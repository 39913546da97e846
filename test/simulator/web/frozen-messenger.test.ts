import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { AES_KEY, startStandInBot, stream, TOKEN, type StandInBot } from '../stand-in-bot.ts';
import { findChromium, launchChromium } from '../../support/chromium.ts';
import { startParleyProcess, type ParleyProcess } from '../../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';

const withBrowser = findChromium() === undefined ? describe.skip : describe;
/** Longer than the page waits for an answer and tolerates silence. */
const LONG_MS = 16_000;

withBrowser('the page while the server is frozen', () => {
  let browser: Browser;
  let redis: TestRedis;
  let bot: StandInBot;
  let messenger: ParleyProcess;
  let page: Page;

  beforeAll(async () => {
    [browser, redis, bot] = await Promise.all([launchChromium(), startTestRedis(), startStandInBot()]);
    bot.script = ({ text }) =>
      text ? stream(`s-${bot.messages().length}`, `About ${text.content}.`, true) : undefined;
    messenger = await startParleyProcess({
      command: ['node', 'test/support/messenger-process.mjs'],
      env: { REDIS_URL: redis.url, BOT_URL: bot.url, BOT_TOKEN: TOKEN, BOT_AES_KEY: AES_KEY },
      until: /is running at/,
    });
    page = await browser.newPage({ locale: 'en-GB' });
    await page.clock.install();
    await page.goto(/running at (\S+)/.exec(messenger.output())?.[1] ?? '');
  });
  afterAll(async () => {
    await browser.close();
    messenger.kill('SIGCONT');
    messenger.kill('SIGKILL');
    await messenger.ended;
    await Promise.all([redis.stop(), bot.close()]);
  });

  const say = async (text: string) => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const own = () => page.locator('li[data-sender=lin]');
  const answer = (text: string) => page.locator('li[data-sender=bot]', { hasText: text });
  const banner = () => page.getByText('Connection to the messenger lost');

  test('reports a lost connection, and merges a message that it gave up with its late answer', async () => {
    await say('trees');
    await answer('About trees.').waitFor();
    expect(await banner().count()).toBe(0);

    messenger.kill('SIGSTOP');
    await say('birds');
    await page.clock.fastForward(LONG_MS);
    await banner().waitFor();
    await page.getByText('The messenger could not be reached.').waitFor();
    // Sent again while the server is frozen: it finds both requests when it resumes.
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.clock.fastForward(LONG_MS);
    await page.getByText('The messenger could not be reached.').waitFor();

    messenger.kill('SIGCONT');
    await answer('About birds.').waitFor();
    await banner().waitFor({ state: 'detached' });
    await own().nth(1).and(page.locator('[data-delivery=sent]')).waitFor();
    expect(await own().allInnerTexts()).toEqual([expect.stringContaining('trees'), expect.stringContaining('birds')]);
    expect(await answer('About birds.').count()).toBe(1);
    expect(bot.messages().filter(({ text }) => text?.content === 'birds')).toHaveLength(1);
    await say('bees');
    await answer('About bees.').waitFor();
  });
});
