import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { SIGN_IN_PROOF: 'typed-code' } });
}, 60_000);
afterAll(() => deployment.stop());

const driver = () => deployment.messenger.driver;
const ask = async (person: string, said: Parameters<ReturnType<typeof driver>['say']>[1]) => {
  const message = await driver().say(person, said);
  return (await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text;
};
const modelCalls = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;

/** Asks while unlinked, and goes through the browser to the page with the code. */
async function askAndWalkToCode(person: string, question: string) {
  const message = await driver().say(person, question);
  await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
  const page = await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
  const code = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</.exec(page)?.[1] ?? 'none';
  return { message, code, page };
}

describe('the typed code in a private chat [typed-code]', () => {
  test('the code is answered by who is linked now, and the question before it is answered in its own message', async () => {
    const { message, code } = await askAndWalkToCode('zhangwei', '请数到 20');
    const calls = modelCalls();
    const reply = await ask('zhangwei', code);
    expect(reply).toMatch(/^已登录为张伟（20•••17）。不是你本人？请发送“解绑”。$/);
    const answer = await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
    expect(answer.text).toContain('20');
    // One call for the question; none for the code.
    expect(modelCalls() - calls).toBe(1);
    expect(await ask('zhangwei', '/whoami')).toContain('张伟');
    expect(driver().violations()).toEqual([]);
  });

  test('the code is in no later prompt, and /retry asks the question, not the code', async () => {
    await ask('zhangwei', 'count to 6');
    expect(await ask('zhangwei', 'A1B2-C3D4')).toContain('I was not expecting a code here');
    expect((await ask('zhangwei', '/retry')).trim()).toBe('1 2 3 4 5 6');
  });

  test('a wrong code says how many tries are left, and the question stays held', async () => {
    const { message, code } = await askAndWalkToCode('linxiaoyu', 'count to 3');
    expect(await ask('linxiaoyu', 'A1B2-C3D4')).toBe(
      'That is not the code on the sign-in page. Please look again; you have 4 tries left.',
    );
    expect((await driver().answer(message.id))?.text).toContain('/link/');
    expect(await ask('linxiaoyu', code.toLowerCase().replace('-', ' '))).toContain('Signed in as 林晓雨');
    expect((await driver().waitForAnswer(message.id)).text.trim()).toBe('1 2 3');
  });

  test('among questions that come at once the code is taken, and they are answered', async () => {
    const { message, code } = await askAndWalkToCode('daniel.okoye', 'count to 2');
    const before = await driver().say('daniel.okoye', 'count to 4');
    const typed = await driver().say('daniel.okoye', code);
    expect((await driver().waitForAnswer(typed.id, { timeoutMs: 15_000 })).text).toContain('Signed in as Daniel');
    expect((await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text).toBe('↓ answered below');
    expect((await driver().waitForAnswer(before.id, { timeoutMs: 15_000 })).text.trim()).toBe('1 2');
  });

  test('what waited while no worker was there: the code is taken, and the question beside it is answered', async () => {
    await ask('daniel.okoye', '/unlink');
    const { message, code } = await askAndWalkToCode('daniel.okoye', 'count to 2');
    await deployment.stopBot();
    await deployment.startBot({ ROLES: 'receiver' });
    await untilTrue(() => driver().isBotReachable());
    const before = await driver().say('daniel.okoye', 'count to 4');
    const typed = await driver().say('daniel.okoye', code);
    const inboxes = async () =>
      Promise.all((await deployment.redis.keys('*:inbox:*')).map((name) => deployment.redis.llen(name)));
    // A turn that the stop interrupted waits beside them.
    await untilTrue(async () => Math.max(...(await inboxes())) >= 2);
    await deployment.stopBot();
    await deployment.startBot();
    expect((await driver().waitForAnswer(typed.id, { timeoutMs: 15_000 })).text).toContain('Signed in as Daniel');
    expect((await driver().waitForAnswer(message.id, { timeoutMs: 15_000 })).text).toBe('↓ answered below');
    expect((await driver().waitForAnswer(before.id, { timeoutMs: 15_000 })).text.trim()).toBe('1 2');
  }, 60_000);

  test('the same delivery three times at once: one try is counted', async () => {
    await askAndWalkToCode('emma.clarke', 'count to 2');
    const { message } = await driver().deliver('emma.clarke', 'A1B2-C3D4', 3);
    expect((await driver().waitForAnswer(message.id)).text).toContain('you have 4 tries left');
    expect(await ask('emma.clarke', 'A1B2-C3D4')).toContain('you have 3 tries left');
  });
});

test('a code that is shown to a group is dead, and the group reads no link [private-invitation] [typed-code]', async () => {
  const { code } = await askAndWalkToCode('chenguodong', 'count to 2');
  const reply = await ask('zhangwei', {
    text: `他的验证码是 ${code}`,
    conversation: { group: 'wrtown' },
    mention: true,
  });
  expect(reply).toContain('验证码只能在与我的私聊中输入');
  expect(reply).not.toContain('/link/');
  await untilTrue(async () =>
    (await driver().messages('chenguodong')).some(({ text }) => text.includes('was seen in a group')),
  );
  expect(await ask('chenguodong', code)).toContain('I was not expecting a code');
  expect(await ask('chenguodong', '/whoami')).toContain('Nobody is signed in');
});

test('no code is in a log line [scrubbed-logs]', async () => {
  const text = deployment.lines.join('\n');
  expect(text).not.toContain('A1B2-C3D4');
  expect(text).not.toMatch(/"[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}"/);
});
