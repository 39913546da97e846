import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../src/shared/clock.ts';
import type { MessageView } from '../../src/simulator/api.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const NOT_THE_LAST = 'Only your latest question';
const ASKER = 'zhangwei';

/** A button pressed after an hour has one effect or causes a notice, whatever the platform allows. */
describe.each([
  ['wecom', 'callback'],
  ['wecom', 'connection'],
  ['slack', 'http'],
  ['slack', 'socket'],
] as const)('a button pressed an hour later on %s by %s', (protocol, way) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment({
      protocol,
      isConnected: way === 'connection' || way === 'socket',
      slackTiming: { editQuietMs: 300 },
      env: {
        ...{ SIGN_IN: 'off', SIGN_IN_PROOF: '', REPLY_MIN_EDIT_MS: '100' },
        ...(protocol === 'wecom' ? { WECOM_BUTTONS: 'yes', SIGN_IN_HELP_URL: 'https://help.example.org/' } : {}),
      },
    });
  }, 60_000);
  afterAll(() => deployment.stop());
  beforeEach(async () => {
    for (const key of await deployment.redis.keys('{p*}:feedback:*')) await deployment.redis.del(key);
  });

  const driver = () => deployment.messenger.driver;
  const labelsOf = ({ buttons }: MessageView) => buttons?.flat().map(({ label }) => label) ?? [];
  const callsEnded = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;
  const said = async (text: string) => (await driver().messages(ASKER)).filter((one) => one.text.includes(text));

  /** Asks and waits for the button. @returns the answer and the message with the button */
  async function asked(text: string, { label = 'Try again', quote }: { label?: string; quote?: string } = {}) {
    const message = await driver().send(ASKER, { text, quote });
    let at: MessageView | undefined;
    await untilTrue(async () => {
      const all = await driver().messages(ASKER);
      at = all.slice(all.findIndex(({ id }) => id === message.id) + 1).find((one) => labelsOf(one).includes(label));
      return (
        at !== undefined && (await driver().answer(message.id))?.text.includes(text.replace('count to ', '')) === true
      );
    });
    return { answer: await driver().waitForAnswer(message.id, { timeoutMs: 15_000 }), at: at as MessageView };
  }

  /** On Slack the button disappears once the question is asked again. */
  const press = (at: MessageView, label: string) =>
    driver()
      .press(ASKER, at.id, label)
      .catch(() => undefined);
  const quiet = () => new Promise((resolve) => setTimeout(resolve, 700));

  test('"Try again" pressed three times gives one new answer, and otherwise only notices [own-buttons]', async () => {
    const { at } = await asked('count to 7');
    const before = callsEnded();
    const answersBefore = (await said('1 2 3 4 5 6 7')).length;
    deployment.advance(HOUR_MS + MINUTE_MS);
    await press(at, 'Try again');
    await press(at, 'Try again');
    await untilTrue(() => callsEnded() > before);
    await quiet();
    await press(at, 'Try again');
    await untilTrue(async () =>
      protocol === 'slack' ? (await said('answered below')).length === 1 : (await said(NOT_THE_LAST)).length === 2,
    );
    await quiet();
    expect(callsEnded() - before).toBe(1);
    // On Slack the old answer points to the new one. On WeCom it stays unchanged.
    expect((await said('1 2 3 4 5 6 7')).length).toBe(protocol === 'slack' ? answersBefore : answersBefore + 1);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('"Try again" at an older answer says that it is not the newest [own-buttons]', async () => {
    const { at } = await asked('count to 8');
    // On Slack an answer begins a thread, and the newest question is that of the thread.
    await asked('count to 9', { quote: protocol === 'slack' ? at.id : undefined });
    const [before, sentences] = [callsEnded(), (await said(NOT_THE_LAST)).length];
    deployment.advance(HOUR_MS + MINUTE_MS);
    await press(at, 'Try again');
    await untilTrue(async () => (await said(NOT_THE_LAST)).length === sentences + 1);
    await quiet();
    expect(callsEnded()).toBe(before);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('a rating given twice is stored once [feedback-kept]', async () => {
    const { answer } = await asked('count to 6');
    deployment.advance(HOUR_MS + MINUTE_MS);
    await driver().rate(ASKER, answer.id, 'good');
    await driver()
      .rate(ASKER, answer.id, 'good')
      .catch(() => undefined);
    const kept = async () => {
      const keys = await deployment.redis.keys('{p*}:feedback:*');
      return Promise.all(keys.map((key) => deployment.redis.hkeys(key)));
    };
    await untilTrue(async () => (await kept()).length === 1);
    await quiet();
    expect((await kept()).map((fields) => fields.filter((name) => name.startsWith('verdict:')).length)).toEqual([1]);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  if (way === 'callback')
    test('"Stop" on a card says that there is nothing to stop', async () => {
      const { at } = await asked('count to 300', { label: 'Stop' });
      const before = (await said('There is nothing to stop.')).length;
      deployment.advance(HOUR_MS + MINUTE_MS);
      await press(at, 'Stop');
      await untilTrue(async () => (await said('There is nothing to stop.')).length === before + 1);
      expect((await said(' 299 300')).length).toBe(1);
      expect(driver().violations()).toEqual([]);
    }, 60_000);
});
