import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ startsBot: false });
  // Without the self-built app the bot cannot start a private chat and knows no names.
  for (const name of ['WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'])
    Reflect.deleteProperty(deployment.env, name);
  await deployment.startBot({ SIGN_IN_PROOF: 'typed-code' });
  await untilTrue(() => deployment.messenger.driver.isBotReachable());
}, 60_000);
afterAll(() => deployment.stop());

const driver = () => deployment.messenger.driver;
const shown = async (id: string) => (await driver().answer(id))?.text ?? '';

test('where the bot cannot write first, a group question is kept until its sender signs in through the private chat', async () => {
  const group = { conversation: { group: 'wrtown' }, mention: true };
  const asked = await driver().send('linxiaoyu', { text: '数到 3', ...group });
  await untilTrue(async () => (await shown(asked.id)) !== '');
  expect(await shown(asked.id)).toBe('请先私聊我完成登录。十分钟内登录，我会在这里回答你的问题。');

  const hello = await driver().send('linxiaoyu', '数到 2');
  await untilTrue(async () => (await shown(hello.id)).includes('/link/'));
  const page = await deployment.signIn('linxiaoyu', await shown(hello.id));
  await driver().send('linxiaoyu', /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page)?.[0] ?? 'no code');
  expect((await driver().waitForAnswer(asked.id)).text.trim()).toBe('1 2 3');
  expect((await driver().waitForAnswer(hello.id)).text.trim()).toBe('1 2');
  expect(driver().violations()).toEqual([]);
}, 60_000);
