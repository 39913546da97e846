import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { ageMessages } from '../support/age-messages.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

/** The same tests for both ways in which WeCom delivers. */
describe.each(['callback', 'connection'] as const)('WeCom by %s', (way) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment({ isConnected: way === 'connection' });
  }, 60_000);
  afterAll(() => deployment.stop());

  const driver = () => deployment.messenger.driver;
  /** Sends a message and waits for the finished answer. */
  const ask = async (person: string, said: Parameters<ReturnType<typeof driver>['send']>[1]) => {
    const message = await driver().send(person, said);
    return { message, answer: await driver().waitForAnswer(message.id, { timeoutMs: 15_000 }) };
  };
  const linkIn = (text = '') => /https?:\/\/\S+\/link\/[\w-]+/.exec(text)?.[0];
  const callsEnded = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;
  /** Sends a message and waits until the bot has stored it, since messages are delivered concurrently. */
  const sayUntilTaken = async (person: string, text: string) => {
    const message = await driver().send(person, text);
    // A long answer may have used up the frames that WeCom allows in a chat within a minute.
    await untilTrue(async () => (await driver().answer(message.id)) !== undefined, 70_000);
    return message;
  };
  /** Sends a private message while unlinked, and signs in through the link in the reply. */
  const signInBy = async (person: string, text: string) => {
    const message = await driver().send(person, text);
    await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
    const invitation = (await driver().answer(message.id))?.text ?? '';
    const page = await deployment.signIn(person, invitation);
    return { message, page };
  };

  describe('a private chat', () => {
    test('answers the question that was asked before the sign-in after it, in the same message', async () => {
      const { message, page } = await signInBy('zhangwei', 'count to 60');
      expect(page).toContain('张伟');
      const answer = await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
      expect(answer.text.trim().split(/\s+/)).toHaveLength(60);
      expect(driver().violations()).toEqual([]);
    });

    test('shows the answer while it grows', async () => {
      const { message } = await ask('zhangwei', 'count to 400');
      const steps = driver()
        .trace(message.id)
        .snapshots.filter((content) => /\d/.test(content));
      expect(steps.length).toBeGreaterThanOrEqual(3);
    });

    test('names the linked person on /whoami', async () => {
      const { answer } = await ask('zhangwei', '/whoami');
      expect(answer.text).toContain('张伟');
      expect(answer.text).toContain('20080117');
    });

    test('gives one reply and one model call for a message that is delivered three times at once', async () => {
      const before = callsEnded();
      const { message, results } = await driver().deliver('zhangwei', 'count to 5', 3);
      // Over the connection the sender does not learn whether a message was accepted.
      if (way === 'callback') expect(results.map(({ kind }) => kind)).toEqual(['reply', 'reply', 'reply']);
      await driver().waitForAnswer(message.id);
      await untilTrue(() => callsEnded() > before);
      expect(callsEnded() - before).toBe(1);
      const answers = (await driver().messages('zhangwei')).filter(({ sender }) => sender === 'bot');
      expect(answers.filter(({ id }) => id.includes(message.id))).toHaveLength(1);
    });

    test('ends a growing answer on /stop, keeps its text and finishes both replies', async () => {
      const message = await driver().send('zhangwei', 'count to 5000');
      await untilTrue(async () => /\d/.test((await driver().answer(message.id))?.text ?? ''));
      const { answer: stopAnswer } = await ask('zhangwei', '/stop');
      const answer = await driver().waitForAnswer(message.id);
      expect(stopAnswer.text).toBe('Stopped.');
      expect(answer.text).toMatch(/^1 2 3 /);
      // The note about the stop is separate from the model's text.
      expect(answer).toMatchObject({ note: 'Stopped.' });
      expect(answer.thinking).toBeUndefined();
      expect(answer.text).not.toContain('5000');
    });

    test('keeps a waiting /help on /stop, and ends no answer without text', async () => {
      // Messages sent before a new connection is subscribed are lost.
      const subscribed = () => deployment.lines.filter((line) => line.includes('it delivers here')).length;
      const restart = async (more?: Record<string, string>) => {
        await deployment.stopBot();
        const before = subscribed();
        const bot = await deployment.startBot(more);
        await untilTrue(() => driver().isBotReachable() && (way === 'callback' || subscribed() > before));
        return bot;
      };
      const receiver = await restart({ ROLES: 'receiver' });
      const help = await sayUntilTaken('chenguodong', '/help');
      const stop = await sayUntilTaken('chenguodong', '/stop');
      await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
      expect((await driver().waitForAnswer(help.id, { timeoutMs: 15_000 })).text).toContain('/whoami');
      expect((await driver().waitForAnswer(stop.id)).text).toBe('There is nothing to stop.');
      for (const { id } of [help, stop]) expect(driver().trace(id).snapshots.at(-1)).toMatch(/\S/);
      expect(driver().violations()).toEqual([]);
      await deployment.stopBot();
      await receiver.close();
      await restart();
    });

    test('answers the last question again on /retry, and clears the history on /new', async () => {
      await ask('zhangwei', 'count to 7');
      expect((await ask('zhangwei', '/retry')).answer.text.trim()).toBe('1 2 3 4 5 6 7');
      await ask('zhangwei', '/new');
      expect((await ask('zhangwei', '重试')).answer.text).toBe('还没有可以重试的问题。');
    });

    test('holds questions that arrive during an answer, and answers them by one reply', async () => {
      const sayThree = async (firstLength: number) => {
        const before = callsEnded();
        const first = await sayUntilTaken('zhangwei', `count to ${firstLength}`);
        const second = await sayUntilTaken('zhangwei', 'count to 3');
        const third = await sayUntilTaken('zhangwei', 'count to 4');
        return { first, second, third, bothWaited: callsEnded() === before };
      };
      // On a busy machine the first answer may be complete before all messages are sent; then a longer one is requested.
      let said = await sayThree(300);
      for (const longer of [1_200, 4_800]) {
        if (said.bothWaited) break;
        await driver().waitForAnswer(said.third.id, { timeoutMs: 70_000 });
        said = await sayThree(longer);
      }
      expect(said.bothWaited).toBe(true);
      const answered = callsEnded();
      const textOf = async ({ id }: { id: string }) => (await driver().waitForAnswer(id, { timeoutMs: 30_000 })).text;
      await textOf(said.first);
      expect(await textOf(said.second)).toBe('↓ answered below');
      expect(await textOf(said.third)).not.toBe('');
      // One call for the first answer, and one for both waiting questions.
      await untilTrue(() => callsEnded() - answered >= 2);
      expect(callsEnded() - answered).toBe(2);
    }, 240_000);

    test('forgets the person on /unlink, and asks for the sign-in at the next question', async () => {
      await signInBy('daniel.okoye', 'hello');
      await untilTrue(async () => (await ask('daniel.okoye', '/whoami')).answer.text.includes('Daniel'));
      expect((await ask('daniel.okoye', '/unlink')).answer.text).toContain('/logout');
      const message = await driver().send('daniel.okoye', 'count to 2');
      await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
    });

    test('keeps further questions while a sign-in is pending, and answers all of them after it', async () => {
      const first = await driver().send('chenguodong', 'count to 2');
      await untilTrue(async () => (await driver().answer(first.id))?.text.includes('/link/') ?? false);
      const second = await driver().send('chenguodong', 'count to 3');
      await untilTrue(async () => linkIn((await driver().answer(second.id))?.text) !== undefined);
      const links = await Promise.all([first, second].map(async ({ id }) => linkIn((await driver().answer(id))?.text)));
      expect(links[1]).toBe(links[0]);
      await deployment.signIn('chenguodong', (await driver().answer(first.id))?.text ?? '');
      expect((await driver().waitForAnswer(first.id)).text).toBe('↓ answered below');
      expect((await driver().waitForAnswer(second.id)).text).not.toBe('');
    });
  });

  describe('a group', () => {
    test('answers mentions in the group, and ignores messages without one', async () => {
      const silent = await driver().send('zhangwei', { text: 'count to 3', conversation: { group: 'wrtown' } });
      const { answer } = await ask('zhangwei', {
        text: 'count to 3',
        conversation: { group: 'wrtown' },
        mention: true,
      });
      expect(answer.text.trim()).toBe('1 2 3');
      expect(await driver().answer(silent.id)).toBeUndefined();
    });

    test('points an unlinked person to the private chat and shows no link [private-invitation]', async () => {
      const said = await driver().send('linxiaoyu', {
        text: '数到 3',
        conversation: { group: 'wrtown' },
        mention: true,
      });
      await untilTrue(async () => (await driver().answer(said.id))?.text.includes('私信') ?? false);
      const pointer = await driver().answer(said.id);
      expect(pointer?.text).not.toContain('/link/');
      expect(pointer?.text).toMatch(/^林晓雨，请先登录/);
      const whispered = (await driver().messages('linxiaoyu')).filter(({ sender }) => sender === 'system');
      const invitation = whispered.find(({ text }) => text.includes('/link/'))?.text ?? '';
      // Messages of the self-built app are plain text, so the address appears as is.
      expect(invitation).toMatch(/^请先登录：http/);
      expect(await deployment.signIn('linxiaoyu', invitation)).toContain(
        'Return to the group; your question is being answered',
      );
      expect((await driver().waitForAnswer(said.id)).text.trim()).toBe('1 2 3');
    });

    test('offers a sign-out link on /unlink that confirms the sign-out; a new sign-in there ends on a page of the bot', async () => {
      const { answer } = await ask('linxiaoyu', '/unlink');
      const open = async (url: string | URL) => {
        const page = await driver().browse('linxiaoyu', { url: new URL(url), method: 'GET', destination: 'document' });
        if (page.kind !== 'page') throw new Error(page.kind);
        return { url: page.url, text: page.body.toString() };
      };
      const out = await open(/\]\((http[^)]*\/logout[^)]*)\)/.exec(answer.text)?.[1] ?? '');
      expect([out.url.origin, out.text.includes('data-outcome="signed-out"')]).toEqual([deployment.service.url, true]);
      expect(out.text).toContain('You are signed out');
      let page = out;
      for (const button of ['Sign in again', 'Continue']) {
        const href = new RegExp(`href="([^"]+)"[^>]*>\\s*${button}`).exec(page.text)?.[1]?.replaceAll('&amp;', '&');
        page = await open(new URL(href ?? 'no-button', page.url));
      }
      expect([page.url.origin + page.url.pathname, page.text.includes('data-outcome="returned"')]).toEqual([
        `${deployment.botUrl}/oauth/callback`,
        true,
      ]);
      expect(page.text).toContain('no chat account was connected');
      expect((await ask('linxiaoyu', '/whoami')).answer.text).toContain('You are not signed in');
    });
  });

  describe('late sign-ins', () => {
    test('are answered once by a separate message after the live reply has ended', async () => {
      const message = await driver().send('emma.clarke', 'count to 6');
      await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
      const invitation = (await driver().answer(message.id))?.text ?? '';
      deployment.advance(5.6 * MINUTE_MS);
      await ageMessages(deployment.redis, 5.6 * MINUTE_MS);
      await driver().waitForAnswer(message.id);
      await deployment.signIn('emma.clarke', invitation);
      const answers = async () =>
        (await driver().messages('emma.clarke')).filter(
          ({ sender, text }) => sender === 'bot' && text.includes('1 2 3 4 5 6'),
        );
      await untilTrue(async () => (await answers()).length > 0);
      expect(await answers()).toHaveLength(1);
      expect(driver().violations()).toEqual([]);
    });

    test('report an image that has expired meanwhile, and accept it when it is sent again', async () => {
      const image = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      const message = await driver().send('linxiaoyu', { text: 'What is this?', images: [image] });
      const { answer: invitation } = await ask('linxiaoyu', '/signin');
      deployment.advance(5.1 * MINUTE_MS);
      await deployment.signIn('linxiaoyu', invitation.text);
      expect((await driver().waitForAnswer(message.id)).text).toContain('can no longer be downloaded');
      const again = await ask('linxiaoyu', { text: 'What is this?', images: [image] });
      expect(again.answer.text).toMatch(/1\s*×\s*1|1x1|1 by 1/);
    });
  });
});
