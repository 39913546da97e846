import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const GROUP = { group: 'wrtown' };
type Where = typeof GROUP;
const NOT_THE_LAST = 'Only your latest question';
const HELP_URL = 'https://help.example.org/';

/** The card below an answer and the effect of a tap, for both ways in which WeCom delivers. */
describe.each(['callback', 'connection'] as const)('the card below a WeCom answer by %s', (way) => {
  let deployment: Deployment;
  beforeAll(async () => {
    const env = { SIGN_IN: 'off', SIGN_IN_PROOF: '', WECOM_BUTTONS: 'yes', SIGN_IN_HELP_URL: HELP_URL };
    deployment = await startDeployment({ isConnected: way === 'connection', tokensPerSec: 80, env });
  }, 60_000);
  afterAll(() => deployment.stop());

  const driver = () => deployment.messenger.driver;
  const labelsOf = (view: { buttons?: readonly (readonly { label: string }[])[] } | undefined) =>
    view?.buttons?.flat().map(({ label }) => label) ?? [];
  /** The message with the card: the answer itself, or over the connection the message that follows it. */
  const carded = async (person: string, messageId: string, conversation?: Where) => {
    const all = await driver().messages(person, conversation);
    if (way === 'callback') return all.find(({ id }) => id === `answer-${messageId}`);
    const at = all.findIndex(({ id }) => id === `answer-${messageId}`);
    return all.slice(at + 1).find((one) => labelsOf(one).length > 0);
  };
  const lastOf = async (person: string, conversation?: Where) => (await driver().messages(person, conversation)).at(-1);
  const asked = async (person: string, text: string, conversation?: Where) => {
    const message = await driver().send(person, { text, conversation, mention: conversation !== undefined });
    await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
    await untilTrue(async () => labelsOf(await carded(person, message.id, conversation)).length > 0);
    return message;
  };
  const press = async (person: string, messageId: string, label: string, conversation?: Where) => {
    const at = await carded(person, messageId, conversation);
    await driver().press(person, at?.id ?? '', label);
  };
  const callsEnded = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;
  const said = async (person: string, conversation?: Where) =>
    (await driver().messages(person, conversation)).filter(({ sender }) => sender === person).map(({ text }) => text);

  test('gives one new answer, even if it is pressed twice and once more later [own-buttons]', async () => {
    const message = await asked('zhangwei', 'count to 7');
    const before = callsEnded();
    await press('zhangwei', message.id, 'Try again');
    await press('zhangwei', message.id, 'Try again');
    await untilTrue(async () => (await lastOf('zhangwei'))?.text.includes(NOT_THE_LAST) ?? false, 15_000);
    await press('zhangwei', message.id, 'Try again');
    await untilTrue(
      async () => (await driver().messages('zhangwei')).filter(({ text }) => text.includes(NOT_THE_LAST)).length === 2,
      15_000,
    );
    expect(callsEnded() - before).toBe(1);
    expect((await said('zhangwei')).filter((text) => /^\/retry [0-9a-f]{8}$/.test(text))).toHaveLength(3);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('uses the language of the asker, and is absent from answers to slash words', async () => {
    const message = await asked('linxiaoyu', '请数到三：count to 3');
    expect(labelsOf(await carded('linxiaoyu', message.id))).toEqual(expect.arrayContaining(['重试']));
    const help = await driver().send('linxiaoyu', '/help');
    await driver().waitForAnswer(help.id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(labelsOf(await lastOf('linxiaoyu'))).toEqual([]);
  }, 60_000);

  test('in a group, repeats nothing of the asker when another person presses it [own-buttons]', async () => {
    const message = await asked('zhangwei', 'count to 4', GROUP);
    const before = callsEnded();
    await press('linxiaoyu', message.id, 'Try again', GROUP);
    await untilTrue(async () => {
      const last = await lastOf('linxiaoyu', GROUP);
      return last?.sender === 'bot' && last.state === 'final' && labelsOf(last).length === 0;
    }, 15_000);
    expect((await said('linxiaoyu', GROUP)).at(-1)).toMatch(/^@Parley \/retry [0-9a-f]{8}$/);
    expect(callsEnded()).toBe(before);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  if (way === 'callback')
    test('stops the answer while it grows', async () => {
      const message = await driver().send('zhangwei', 'count to 5000');
      await untilTrue(async () => labelsOf(await driver().answer(message.id)).length > 0);
      expect(labelsOf(await driver().answer(message.id))).toEqual(['Stop', 'Try again']);
      await press('zhangwei', message.id, 'Stop');
      expect(await driver().waitForAnswer(message.id)).toMatchObject({ note: 'Stopped.' });
      await press('zhangwei', message.id, 'Stop');
      await untilTrue(async () => (await lastOf('zhangwei'))?.text === 'There is nothing to stop.');
      expect(driver().violations()).toEqual([]);
    }, 60_000);

  test('is absent if the settings disable it', async () => {
    await deployment.stopBot();
    // WeCom does not repeat messages that were sent between two connections.
    await untilTrue(() => !driver().isBotReachable());
    await deployment.startBot({ WECOM_BUTTONS: 'no' });
    await untilTrue(() => driver().isBotReachable());
    const message = await driver().send('zhangwei', 'count to 3');
    const answer = await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(labelsOf(answer)).toEqual([]);
    expect((await lastOf('zhangwei'))?.id).toBe(answer.id);
  }, 60_000);
});
