import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';

const LINK = /\/link\//;

describe('WeCom and Slack in one deployment, each with same-browser proof [proof-of-person]', () => {
  let deployment: Deployment;
  let platforms: Record<'wecom' | 'slack', Messenger>;
  beforeAll(async () => {
    const env = { SIGN_IN_PROOF: 'wecom:same-browser,slack:same-browser', REPLY_MIN_EDIT_MS: '100' };
    deployment = await startDeployment({ slackToo: true, env });
    platforms = { wecom: deployment.messenger, slack: deployment.slackMessenger };
  }, 60_000);
  afterAll(() => deployment.stop());

  async function untilAnswered({ driver }: Messenger, messageId: string, text: RegExp): Promise<string> {
    const textNow = async () => (await driver.answer(messageId))?.text ?? '';
    await untilTrue(async () => text.test(await textNow())).catch(async () => expect(await textNow()).toMatch(text));
    return textNow();
  }
  const askFor = async (messenger: Messenger, person: string, question: string) => {
    const { id } = await messenger.driver.send(person, question);
    return { id, invitation: await untilAnswered(messenger, id, LINK) };
  };

  test.each([
    ['wecom', 'zhangwei'],
    ['slack', 'emma.clarke'],
  ] as const)('recognise a person on %s in the browser and answer in the same message', async (...row) => {
    const [name, person] = row;
    const messenger = platforms[name];
    const { id, invitation } = await askFor(messenger, person, 'count to 12');
    const last = await deployment.signIn(person, invitation, messenger);
    expect(last).toMatch(/You are signed in as|登录成功/);
    expect(await untilAnswered(messenger, id, /\b11 12$/)).toMatch(/^1 2 3 /);
    expect(messenger.driver.violations()).toEqual([]);
  });

  test.each([
    ['wecom', '另一个聊天账号|different chat account'],
    ['slack', '另一个聊天账号|different chat account'],
  ] as const)('link no account by a forwarded link on %s, and tell its owner', async (name, words) => {
    const messenger = platforms[name];
    const { invitation } = await askFor(messenger, 'linxiaoyu', 'count to 3');
    const victim = name === 'wecom' ? 'emma.clarke' : 'zhangwei';
    expect(await deployment.signIn(victim, invitation, messenger)).toMatch(new RegExp(words));
    const told = async () => (await messenger.driver.messages('linxiaoyu')).map(({ text }) => text).join('\n');
    await untilTrue(async () => /used your sign-in link|用了你的登录链接|使用了你的登录链接/.test(await told()));
    const accounts = (await deployment.redis.keys('{id}:link:*')).length;
    expect(accounts).toBe(2);
  });
});
