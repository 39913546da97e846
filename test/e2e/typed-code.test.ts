import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { SIGN_IN_PROOF: 'typed-code' } });
}, 60_000);
afterAll(() => deployment.stop());

const driver = () => deployment.messenger.driver;
const ask = async (person: string, said: Parameters<ReturnType<typeof driver>['send']>[1]) => {
  const message = await driver().send(person, said);
  return (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text;
};
const modelCalls = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;

/** Asks while unlinked, and follows the sign-in to the page with the code. */
async function askAndWalkToCode(person: string, question: string) {
  const message = await driver().send(person, question);
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  const page = await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
  const code = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(page)?.[1] ?? 'none';
  return { message, code, page };
}

describe('the typed code in a private chat [typed-code]', () => {
  test('is answered with the linked account, and the earlier question is answered in its own message', async () => {
    const { message, code } = await askAndWalkToCode('zhangwei', '请数到 20');
    const calls = modelCalls();
    const reply = await ask('zhangwei', code);
    expect(reply).toMatch(/^已登录为张伟（20•••17）。不是你本人？请发送“解绑”。$/);
    const answer = await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
    expect(answer.text).toContain('20');
    // One call for the question and none for the code.
    expect(modelCalls() - calls).toBe(1);
    expect(await ask('zhangwei', '/whoami')).toContain('张伟');
    expect(driver().violations()).toEqual([]);
  });

  test('is in no later prompt, and /retry repeats the question, not the code', async () => {
    await ask('zhangwei', 'count to 6');
    expect(await ask('zhangwei', 'A1B2-C3D4')).toContain('I was not expecting a code');
    expect((await ask('zhangwei', '/retry')).trim()).toBe('1 2 3 4 5 6');
  });

  test('with an error says how many tries are left, and keeps the question held', async () => {
    const { message, code } = await askAndWalkToCode('linxiaoyu', 'count to 3');
    expect(await ask('linxiaoyu', 'A1B2-C3D4')).toBe(
      'That code does not match the one on the sign-in page. Please check it; you have 4 tries left.',
    );
    expect((await driver().answer(message.id))?.text).toContain('/link/');
    expect(await ask('linxiaoyu', code.toLowerCase().replace('-', ' '))).toContain('Signed in as 林晓雨');
    expect((await driver().waitForAnswer(message.id)).text.trim()).toBe('1 2 3');
  });

  test('is accepted among concurrent questions, which are answered', async () => {
    const { message, code } = await askAndWalkToCode('daniel.okoye', 'count to 2');
    const before = await driver().send('daniel.okoye', 'count to 4');
    const typed = await driver().send('daniel.okoye', code);
    expect((await driver().waitForAnswer(typed.id, { timeoutMs: 15_000 })).text).toContain('Signed in as Daniel');
    expect((await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text).toBe('↓ answered below');
    expect((await driver().waitForAnswer(before.id, { timeoutMs: 15_000 })).text.trim()).toBe('1 2');
  });

  test('is accepted after waiting without a worker, and the question next to it is answered', async () => {
    await ask('daniel.okoye', '/unlink');
    const { message, code } = await askAndWalkToCode('daniel.okoye', 'count to 2');
    await deployment.stopBot();
    await deployment.startBot({ ROLES: 'receiver' });
    await untilTrue(() => driver().isBotReachable());
    const before = await driver().send('daniel.okoye', 'count to 4');
    const typed = await driver().send('daniel.okoye', code);
    const inboxes = async () =>
      Promise.all((await deployment.redis.keys('*:inbox:*')).map((name) => deployment.redis.llen(name)));
    // The turn that the stop interrupted waits as well.
    await untilTrue(async () => Math.max(...(await inboxes())) >= 2);
    await deployment.stopBot();
    await deployment.startBot();
    expect((await driver().waitForAnswer(typed.id, { timeoutMs: 15_000 })).text).toContain('Signed in as Daniel');
    expect((await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text).toBe('↓ answered below');
    expect((await driver().waitForAnswer(before.id, { timeoutMs: 15_000 })).text.trim()).toBe('1 2');
  }, 60_000);

  test('counts as one try when it is delivered three times at once', async () => {
    await askAndWalkToCode('emma.clarke', 'count to 2');
    const { message } = await driver().deliver('emma.clarke', 'A1B2-C3D4', 3);
    expect((await driver().waitForAnswer(message.id)).text).toContain('you have 4 tries left');
    expect(await ask('emma.clarke', 'A1B2-C3D4')).toContain('you have 3 tries left');
  });
});

test('a code posted in a group becomes invalid, and the group sees no link [private-invitation] [typed-code]', async () => {
  const { code } = await askAndWalkToCode('chenguodong', 'count to 2');
  const reply = await ask('zhangwei', {
    text: `他的验证码是 ${code}`,
    conversation: { group: 'wrtown' },
    mention: true,
  });
  expect(reply).toContain('验证码只能在与我的私聊中输入');
  expect(reply).not.toContain('/link/');
  await untilTrue(async () =>
    (await driver().messages('chenguodong')).some(({ text }) => text.includes('was posted in a group')),
  );
  expect(await ask('chenguodong', code)).toContain('I was not expecting a code');
  expect(await ask('chenguodong', '/whoami')).toContain('You are not signed in');
});

test('no log line contains a code [scrubbed-logs]', async () => {
  const text = deployment.lines.join('\n');
  expect(text).not.toContain('A1B2-C3D4');
  expect(text).not.toMatch(/"[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}"/);
});
