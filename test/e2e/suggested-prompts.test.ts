import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsOfNamedFiles } from '../../src/cli/check/config-files.ts';
import { parsePromptsFile, type SuggestedPrompt } from '../../src/bot/platforms/prompts-file.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'parley-prompts-'));
const path = join(folder, 'prompts.json');
afterAll(() => rmSync(folder, { recursive: true }));

const SHIPPED = parsePromptsFile(readFileSync('defaults/prompts.json', 'utf8'));
const THREAD = '1760000100.000100';

/** Starts a bot for Slack and WeCom, with these prompts or the default ones. */
async function start(prompts?: object, more: Record<string, string> = {}) {
  if (prompts) writeFileSync(path, JSON.stringify(prompts));
  const named: Record<string, string> = prompts ? { PROMPTS_FILE: path } : {};
  const both = bothPlatforms(deployment);
  const app = await deployment.startBot({ ...both.env, ...named, ...more });
  const { WECOM_BOT_TOKEN: token = '', WECOM_BOT_AES_KEY: aesKey = '' } = both.env;
  const wecom = createWecomSender({ botUrl: deployment.botUrl, token, aesKey });
  return { app, wecom };
}

const startedThread = (user = 'U1') =>
  deployment.sender.event({
    type: 'assistant_thread_started',
    assistant_thread: { user_id: user, channel_id: `D${user}`, thread_ts: THREAD, context: {} },
  });
const offered = () =>
  deployment.slack.calls.flatMap(({ method, args }) =>
    method === 'assistant.threads.setSuggestedPrompts' ? [args] : [],
  );

/** Returns the reply to a person who enters the chat of WeCom's bot. */
async function welcome(wecom: Awaited<ReturnType<typeof start>>['wecom']): Promise<Record<string, unknown>> {
  const entry = { msgid: 'E1', from: { userid: 'lisi' }, msgtype: 'event', event: { eventtype: 'enter_chat' } };
  const { status, answer } = await wecom.send(entry);
  expect(status).toBe(200);
  return answer as Record<string, unknown>;
}

describe('suggested prompts in Slack', () => {
  test.each([
    { locale: 'en-GB', list: SHIPPED.en },
    { locale: 'zh-CN', list: SHIPPED.zh },
    { locale: 'fr-FR', list: SHIPPED.zh },
    { locale: undefined, list: SHIPPED.zh },
  ])(
    'are offered in the language of a person who opens a new thread with the app: $locale',
    async ({ locale, list }) => {
      if (locale !== undefined) deployment.slack.people.set('U1', { locale });
      await start();
      expect(await startedThread()).toBe(200);
      await untilTrue(() => offered().length === 1);
      expect(offered()).toEqual([{ channel_id: 'DU1', thread_ts: THREAD, prompts: list }]);
      if (locale !== undefined)
        expect(deployment.slack.calls).toContainEqual(
          expect.objectContaining({ method: 'users.info', args: { user: 'U1', include_locale: true } }),
        );
    },
  );

  test("are offered without a thread in the app's own chat, but not in its home tab", async () => {
    await start();
    await deployment.sender.event({ type: 'app_home_opened', user: 'U2', channel: 'DU2', tab: 'home' });
    await deployment.sender.event({ type: 'app_home_opened', user: 'U1', channel: 'DU1', tab: 'messages' });
    await untilTrue(() => offered().length === 1);
    expect(offered()).toEqual([{ channel_id: 'DU1', prompts: SHIPPED.zh }]);
  });

  test('are not sent if the lists are empty', async () => {
    deployment.chat.script(helloStream('Hello.'));
    await start({ zh: [], en: [] });
    expect(await startedThread()).toBe(200);
    await deployment.sender.direct('U1', 'one question');
    await untilTrue(() => deployment.textsIn('DU1').length > 0);
    expect(offered()).toEqual([]);
    expect(deployment.slack.calls.filter(({ method }) => method === 'users.info')).toEqual([]);
  });

  test('become normal questions when chosen, and a refused offer is ignored', async () => {
    deployment.chat.script(helloStream('Hello.'));
    deployment.slack.faults.set('assistant.threads.setSuggestedPrompts', [{ kind: 'error', error: 'missing_scope' }]);
    await start();
    await startedThread();
    await untilTrue(() => offered().length === 1);
    await deployment.sender.direct('U1', SHIPPED.zh[0]?.message ?? '', { thread_ts: THREAD });
    await untilTrue(() => deployment.textsIn('DU1').length === 1);
    expect(deployment.lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  });
});

describe('suggested prompts in WeCom', () => {
  const cardOf = (answer: Record<string, unknown>) =>
    answer['template_card'] as Record<string, unknown> & { jump_list: object[]; sub_title_text: string };

  test('appear as a welcome card with three questions to tap, and the fourth in the text', async () => {
    const { wecom } = await start();
    const answer = await welcome(wecom);
    expect(answer['msgtype']).toBe('template_card');
    const card = cardOf(answer);
    const asked = SHIPPED.zh.map(({ title, message }) => ({ type: 3, title, question: message }));
    expect(card).toMatchObject({
      card_type: 'text_notice',
      main_title: { title: 'Parley' },
      card_action: { type: 1, url: `${deployment.botUrl}/webhooks/wecom` },
    });
    expect(card.jump_list).toEqual(asked.slice(0, 3));
    expect(card.sub_title_text).toContain('你好，我是 Parley');
    expect(card.sub_title_text).toContain(`\n\n你可以这样问：\n• ${SHIPPED.zh[3]?.message}`);
    expect(card.sub_title_text).not.toContain(SHIPPED.zh[0]?.message);
  });

  test.each([
    ['the default', {}, '你好'],
    ['DEFAULT_LANGUAGE', { DEFAULT_LANGUAGE: 'en' }, 'Hello'],
  ])('and the welcome are in %s language until the person chooses one', async (_, settings, greeting) => {
    const { wecom } = await start(undefined, settings);
    const said = async () => cardOf(await welcome(wecom)).sub_title_text;
    expect(await said()).toMatch(new RegExp(`^${greeting}`));
    const [word, chosen] = greeting === 'Hello' ? ['语言 中文', '你好'] : ['/lang en', 'Hello'];
    expect((await wecom.send(wecomText(word, 'lisi'))).status).toBe(200);
    await untilTrue(async () => (await said()).startsWith(chosen));
    const { jump_list: jumps } = cardOf(await welcome(wecom));
    const list = chosen === '你好' ? SHIPPED.zh : SHIPPED.en;
    expect(jumps).toMatchObject(list.slice(0, 3).map(({ title }) => ({ title })));
  });

  test("and the welcome are in the language of the person's last message", async () => {
    deployment.chat.script(helloStream('Fine.'));
    const { wecom } = await start(undefined, { SIGN_IN: 'off' });
    const said = async () => cardOf(await welcome(wecom)).sub_title_text;
    for (const [question, greeting] of [
      ['What can you do?', 'Hello'],
      ['你好', '你好'],
    ] as const) {
      expect((await wecom.send(wecomText(question, 'lisi'))).status).toBe(200);
      await untilTrue(async () => (await said()).startsWith(greeting));
    }
  });

  test('of more than 200 bytes stay in the text, and another one takes the place on the card', async () => {
    const list = ['长'.repeat(66), '长'.repeat(67), 'b', 'c'].map((message, index) => ({ title: `${index}`, message }));
    const { wecom } = await start({ zh: list, en: [] }, { SIGN_IN_HELP_URL: 'https://help.example.org/' });
    const card = cardOf(await welcome(wecom));
    expect(card.jump_list).toEqual([0, 2, 3].map((at) => ({ type: 3, title: `${at}`, question: list[at]?.message })));
    expect(card.sub_title_text).toContain(`• ${'长'.repeat(67)}`);
    expect(card['card_action']).toEqual({ type: 1, url: 'https://help.example.org/' });
  });

  test('are missing from a plain text welcome if the lists are empty, and are uncut lines if none fits a card', async () => {
    const { app, wecom } = await start({ zh: [], en: SHIPPED.en });
    const plain = await welcome(wecom);
    expect(plain).toEqual({
      msgtype: 'text',
      text: { content: expect.stringMatching(/^你好，我是 Parley.*\n.*do\.$/) },
    });
    const long = ['a', 'b', 'c', 'd'].map((sign) => ({ title: sign, message: `${sign}\n${sign.repeat(600)}` }));
    writeFileSync(path, JSON.stringify({ zh: long, en: [] }));
    // As on SIGHUP.
    await app.reread();
    const { content } = (await welcome(wecom))['text'] as { content: string };
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(2_048);
    expect(content.split('\n• ').slice(1)).toEqual(
      long.slice(0, 3).map(({ title }) => `${title} ${title.repeat(600)}`),
    );
  });

  test('do not delay the welcome while Redis hangs', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { wecom } = await start(undefined, { REDIS_URL: `redis://127.0.0.1:${port}`, ROLES: 'receiver' });
    expect((await welcome(wecom))['msgtype']).toBe('template_card');
    const { status } = await wecom.send(wecomText('a question'));
    expect(status).toBe(503);
    await deployment.stopBots();
    silent.close();
  });
});

test('suggested prompts with mentions or disguised text in a title or message are neutralised [harmless-marks]', async () => {
  const hostile: SuggestedPrompt[] = [
    { title: '<!here> @all \u202eabc', message: '@所有人 <@U1> <!channel> &lt;!everyone>' },
    { title: '[x](https://a.example)', message: '<https://evil.example|bank> @here' },
  ];
  deployment.slack.people.set('U1', { locale: 'en-US' });
  const { wecom } = await start({ zh: hostile, en: hostile });
  await startedThread();
  await untilTrue(() => offered().length === 1);
  for (const shown of [JSON.stringify(offered()), JSON.stringify(await welcome(wecom))]) {
    expect(shown).toContain('abc');
    expect(shown).not.toMatch(/<!|<@|&lt;!|@(?:all|here|所有人)|\u202e/);
  }
  // Slack's own syntax for hiding an address.
  expect(JSON.stringify(offered())).toContain('bank (https://evil.example)');
});

describe('a prompts file that cannot be used is reported with the place of each fault [checked-at-start]', () => {
  const good = { title: 't', message: 'm' };
  test.each<[what: string, file: string | object, fault: RegExp]>([
    ['invalid JSON', '{"zh": [', /PROMPTS_FILE \(.*prompts\.json\): Line 1, column 9: the file ends here/],
    ['a missing language', { en: [] }, /: zh: /],
    ['an unknown language', { zh: [], en: [], fr: [] }, /: the file: .*fr/],
    ['five prompts', { zh: Array(5).fill(good), en: [] }, /: zh: .*4/],
    ['a missing title', { zh: [], en: [good, { message: 'm' }] }, /: en\[1\]\.title: /],
    ['an invisible title', { zh: [{ title: '\u200b ', message: 'm' }], en: [] }, /: zh\[0\]\.title: /],
    [
      'a title of two lines',
      { zh: [{ title: 'a\nb', message: 'm' }], en: [] },
      /: zh\[0\]\.title: Must be a single line/,
    ],
    ['a title that is too long', { zh: [{ title: 'a'.repeat(76), message: 'm' }], en: [] }, /: zh\[0\]\.title: .*75/],
    [
      'a message that is too long',
      { zh: [{ title: 'a', message: 'm'.repeat(1_001) }], en: [] },
      /: zh\[0\]\.message: .*1,?000/,
    ],
    ['an unknown property', { zh: [{ ...good, url: 'x' }], en: [] }, /: zh\[0\]: .*url/],
  ])('a prompts file with a fault is refused: %s', async (_what, file, fault) => {
    writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
    const settings = loadSettings({ env: { ...deployment.env, PROMPTS_FILE: path }, cwd: process.cwd() });
    if (!settings.ok) throw new Error('the settings are at fault');
    expect(await faultsOfNamedFiles(settings.config)).toEqual([expect.stringMatching(fault)]);
  });

  test('a configured prompts file must exist, and without one the default prompts are offered', async () => {
    const at = (env: Record<string, string>, cwd: string) => {
      const settings = loadSettings({ env: { ...deployment.env, ...env }, cwd });
      if (!settings.ok) throw new Error('the settings are at fault');
      return faultsOfNamedFiles(settings.config).then((faults) =>
        faults.filter((one) => one.startsWith('PROMPTS_FILE')),
      );
    };
    expect(await at({ PROMPTS_FILE: join(folder, 'none.json') }, process.cwd())).toHaveLength(1);
    expect(await at({}, folder)).toEqual([]);
  });
});
