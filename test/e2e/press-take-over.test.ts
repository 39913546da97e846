import { expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { SlackMessage } from '../support/fake-slack.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';

/**
 * A press is stored like any message, so its effect occurs once, whatever process dies in between (SECURITY.md own-buttons).
 */

const deployment = useSlackDeployment();
const WECOM = { token: 'press-test-token', aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' };
const noneWaits = async () => (await deployment.redis.keys('*:pending')).length === 0;
const diesAt = (place: string) => ({ NODE_ENV: 'test', PARLEY_FAIL_POINT: `${place}:exit` });

/** An answer that shows its first words and then hangs until another worker takes over. */
const hangs: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ content: 'word1 word2 word3 ' }));
  return Promise.resolve();
};

async function answered(): Promise<SlackMessage> {
  deployment.chat.script(helloStream('first answer'));
  const worker = await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  await deployment.sender.direct('U1', 'a question');
  await deployment.untilShown('DU1', ['first answer'], 15_000);
  await untilTrue(noneWaits);
  await worker.close();
  const at = deployment.slack.messages.at(-1) as SlackMessage;
  return { ...at, buttons: [...at.buttons] };
}

function press(label: string, { channel, ts, threadTs, buttons }: SlackMessage, userId = 'U1') {
  const button = buttons.find((one) => one.label === label);
  if (!button) throw new Error(`There is no button ${label}`);
  return deployment.sender.press({ channel, ts, threadTs, userId }, button);
}

test.each(['chat.completions:after', 'redis.commit:after'])(
  '"Try again" in Slack has one effect when the worker dies at %s [own-buttons]',
  async (place) => {
    await deployment.startBot({ ROLES: 'receiver' });
    const at = await answered();
    deployment.chat.script(helloStream('second answer'));
    const dying = await deployment.startProcess({ ROLES: 'worker', ...diesAt(place) });
    await press('Try again', at);
    await dying.ended;
    await press('Try again', at);
    await deployment.startProcess({ ROLES: 'worker' });
    await deployment.untilShown('DU1', ['↓ answered below', 'second answer'], 40_000);
    await untilTrue(noneWaits, 20_000);
    expect(deployment.textsIn('DU1')).toEqual(['↓ answered below', 'second answer']);
  },
  90_000,
);

test('"Try again" in Slack has one effect when the receiver dies after storing the press and before waking a worker [own-buttons]', async () => {
  await deployment.startBot({ ROLES: 'receiver' });
  const at = await answered();
  await deployment.stopBots();
  deployment.chat.script(helloStream('second answer'));
  const dying = await deployment.startProcess({ ROLES: 'receiver', ...diesAt('redis.accept:after') });
  await expect(press('Try again', at)).rejects.toThrow();
  await dying.ended;
  await deployment.startProcess({ ROLES: 'receiver' });
  await press('Try again', at);
  await deployment.startProcess({ ROLES: 'worker' });
  await deployment.untilShown('DU1', ['↓ answered below', 'second answer'], 60_000);
  await untilTrue(noneWaits, 20_000);
  expect(deployment.textsIn('DU1')).toEqual(['↓ answered below', 'second answer']);
}, 120_000);

test('"Try again" on a WeCom card gives one new answer when its receiver and its worker die [own-buttons]', async () => {
  const env = { WECOM_BOT_TOKEN: WECOM.token, WECOM_BOT_AES_KEY: WECOM.aesKey, WECOM_BUTTONS: 'yes' };
  await deployment.startBot({ ...env, ROLES: 'receiver' });
  const sender = createWecomSender({ botUrl: deployment.botUrl, ...WECOM });
  interface Reply {
    stream: { id: string; content: string; finish: boolean };
    template_card?: { jump_list: { question: string }[] };
  }
  const say = async (text: string, msgid: string) => {
    const { answer } = await sender.send({ ...wecomText(text, 'U1'), msgid });
    return (answer as Reply).stream.id;
  };
  const poll = async (id: string) => {
    const { answer } = await sender.send({
      ...wecomText('', 'U1'),
      msgtype: 'stream',
      text: undefined,
      stream: { id },
    });
    return answer as Reply;
  };
  const untilWhole = async (id: string) => {
    const seen: Reply[] = [];
    await untilTrue(async () => {
      seen.push(await poll(id));
      return seen.at(-1)?.stream.finish === true;
    }, 40_000);
    return seen;
  };
  deployment.chat.script(helloStream('first answer'));
  const worker = await deployment.startProcess({ ...env, ROLES: 'worker' });
  const first = await untilWhole(await say('a question', 'M1'));
  const cards = first.flatMap(({ template_card: card }) => card ?? []);
  expect(cards).toHaveLength(1);
  await untilTrue(noneWaits);
  worker.kill('SIGKILL');
  await worker.ended;

  const word = cards[0]?.jump_list.at(-1)?.question ?? '';
  expect(word).toMatch(/^\/retry [0-9a-f]{8}$/);
  deployment.chat.script(hangs, helloStream('second answer'));
  await deployment.stopBots();
  const receiver = await deployment.startProcess({ ...env, ROLES: 'receiver', ...diesAt('redis.accept:after') });
  await expect(say(word, 'M2')).rejects.toThrow();
  await receiver.ended;
  await deployment.startProcess({ ...env, ROLES: 'receiver' });
  const dying = await deployment.startProcess({ ...env, ROLES: 'worker' });
  // WeCom repeats the delivery, since it got no response.
  const id = await say(word, 'M2');
  await untilTrue(async () => (await poll(id)).stream.content.includes('word2'), 40_000);
  dying.kill('SIGKILL');
  await dying.ended;
  await deployment.startProcess({ ...env, ROLES: 'worker' });
  expect((await untilWhole(id)).at(-1)?.stream.content).toBe('second answer');
  // The second press, and a press on a much older card.
  const late = await untilWhole(await say(word, 'M3'));
  expect(late.at(-1)?.stream.content).toContain('Only your latest question');
  expect(deployment.chat.calls).toHaveLength(3);
}, 150_000);
