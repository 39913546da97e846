import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLATFORMS } from '../support/both-platforms.ts';
import { watchScreen, type Screen } from '../support/screen.ts';
import { startSmallWeb, type SmallWeb } from '../support/small-web.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { ABILITY_ROWS } from './ability-table.ts';
import { countUnanswered, shownText, signIn, untilRead, walkSteps } from './abilities/walk-steps.ts';

const LANGUAGES = ['en', 'zh'] as const;
/** A person for each language. */
const ASKERS = { en: 'emma.clarke', zh: 'zhangwei' };
const NEIGHBOUR = 'linxiaoyu';
const TOOLS = { current_time: { on: true }, who_am_i: { on: true }, web_search: { on: true }, read_page: { on: true } };

const folder = mkdtempSync(join(tmpdir(), 'parley-abilities-'));
const toolsFile = join(folder, 'tools.json');
writeFileSync(toolsFile, JSON.stringify({ tools: TOOLS }));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(PLATFORMS)('abilities of the chat service on %s', (platform) => {
  let deployment: Deployment;
  let web: SmallWeb;
  let screens: Record<(typeof LANGUAGES)[number], Screen>;

  beforeAll(async () => {
    web = await startSmallWeb();
    deployment = await startDeployment({
      protocol: platform,
      reach: web.reach,
      env: { TOOLS_FILE: toolsFile, WEB_SEARCH_URL: web.searchUrl, GROUP_SCOPE: 'group', REPLY_MIN_EDIT_MS: '20' },
    });
    const { url, driver } = deployment.messenger;
    screens = { en: await watchScreen(url, ASKERS.en), zh: await watchScreen(url, ASKERS.zh) };
    const hello = await driver.send(NEIGHBOUR, 'Hello');
    await untilRead(() => shownText(deployment, hello), /\/link\//);
    await signIn(deployment, NEIGHBOUR, await shownText(deployment, hello));
    await untilRead(() => shownText(deployment, hello), /^Hello!/);
  }, 60_000);
  afterAll(async () => {
    for (const screen of Object.values(screens)) screen.close();
    await deployment.stop();
    await web.close();
  });
  beforeEach(async () => {
    // Each row is a new conversation: no choices, no history, no rate used.
    const stale = (await deployment.redis.keys('{p*')).filter((key) =>
      /:(?:preferences|history|summary|rate):/.test(key),
    );
    if (stale.length > 0) await deployment.redis.del(stale);
  });

  const rows = ABILITY_ROWS.filter(({ only = platform }) => only === platform);
  describe.each(rows)('$name', ({ steps }) => {
    test.each(LANGUAGES)(
      '%s',
      async (language) => {
        const people = { asker: ASKERS[language], neighbour: NEIGHBOUR };
        await walkSteps({ deployment, platform, web, language, ...people, screen: screens[language] }, steps);
      },
      60_000,
    );
  });

  test('gives each question exactly one answer and breaks no rule of the platform', () => {
    const events = LANGUAGES.flatMap((language) => screens[language].events);
    const messages = events.flatMap(({ name, data }) => (name === 'message' ? data : []));
    const count = (isBy: (sender: string) => boolean) =>
      new Set(messages.filter(({ sender }) => isBy(sender)).map(({ id }) => id)).size;
    const unanswered = LANGUAGES.map((language) => countUnanswered({ platform, language }, rows));
    expect(count((sender) => sender === 'bot')).toBe(
      count((sender) => !['bot', 'system'].includes(sender)) - unanswered.reduce((sum, one) => sum + one),
    );
    expect(deployment.messenger.driver.violations()).toEqual([]);
  });
});
