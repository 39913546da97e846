import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

const CODE = /class="symbols">([0-9A-Z]{4}-[0-9A-Z]{4})</;

/** The complete Parley with the Slack simulator, for both ways of showing growing answers and both ways of delivery. */
describe.each([
  ['stream', 'http'],
  ['edit', 'http'],
  ['stream', 'socket'],
] as const)('local Slack with SLACK_REPLY=%s, SLACK_CONNECT=%s', (reply, connect) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment({
      protocol: 'slack',
      isConnected: connect === 'socket',
      slackTiming: { editQuietMs: 1_500 },
      env: { SLACK_REPLY: reply, REPLY_MIN_EDIT_MS: '100' },
    });
  }, 60_000);
  afterAll(() => deployment.stop());

  const driver = () => deployment.messenger.driver;
  type Said = Parameters<ReturnType<typeof driver>['send']>[1];
  /** Waits for the text only. Slack shows much later that a message is final. */
  const untilAnswered = async (messageId: string, text: RegExp) => {
    const matches = async () => text.test((await driver().answer(messageId))?.text ?? '');
    await untilTrue(matches).catch(async () => expect((await driver().answer(messageId))?.text).toMatch(text));
    const answer = await driver().answer(messageId);
    if (!answer) throw new Error('The answer is gone');
    return answer;
  };
  const ask = async (person: string, said: Said, text: RegExp) => {
    const message = await driver().send(person, said);
    return { message, answer: await untilAnswered(message.id, text) };
  };
  const modelCalls = () => deployment.lines.filter((line) => line.includes('chat call ended')).length;

  /** Asks while unlinked, logs in with user name and password, and types the code. */
  async function signInBy(person: string, question: string) {
    const message = await driver().send(person, question);
    await untilTrue(async () => (await driver().answer(message.id))?.text.includes('/link/') ?? false);
    const page = await deployment.signIn(person, (await driver().answer(message.id))?.text ?? '');
    const code = CODE.exec(page)?.[1] ?? 'none';
    const typed = await driver().send(person, code);
    return { message, typed, code };
  }

  test('answers in the same message after a password login and a code typed in the chat [proof-of-person]', async () => {
    const { message, typed } = await signInBy('emma.clarke', 'count to 30');
    await untilAnswered(typed.id, /Signed in as Emma Clarke/);
    const answer = await untilAnswered(message.id, /\b29 30$/);
    expect(answer.text).toMatch(/^1 2 3 /);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('shows an answer while it grows, and a native stream in the thread of its question [slack-web-api]', async () => {
    const { message } = await ask('emma.clarke', 'count to 500', / 500$/);
    const answer = await driver().waitForAnswer(message.id, { timeoutMs: 15_000 });
    expect(driver().trace(message.id).snapshots.length).toBeGreaterThanOrEqual(3);
    expect(answer.thread?.rootId).toBe(reply === 'stream' ? message.id : undefined);
    expect(answer.text).toMatch(/ 500$/);
    expect(answer.state).toBe('final');
  }, 60_000);

  test('offers buttons for a new answer and a rating, and asks privately for the reason [own-buttons] [feedback-kept]', async () => {
    const { message, answer } = await ask('emma.clarke', 'count to 7', /^1 2 3 4 5 6 7$/);
    const labels = async (id: string) =>
      (await driver().messages('emma.clarke'))
        .find((one) => one.id === id)
        ?.buttons?.flatMap((row) => row.map(({ label }) => label)) ?? [];
    await untilTrue(async () => (await labels(answer.id)).includes('Try again'));
    await driver().rate('emma.clarke', answer.id, 'bad');
    const asked = async () =>
      (await driver().messages('emma.clarke')).find(({ text }) => text.includes('What is wrong with it?'));
    await untilTrue(async () => (await asked()) !== undefined);
    const question = await asked();
    expect(question?.isOnlyForYou).toBe(true);
    await driver().press('emma.clarke', question?.id ?? '', 'Incomplete');
    await untilTrue(async () =>
      (await driver().messages('emma.clarke')).some(({ text }) => text.includes('Thank you for your feedback.')),
    );
    await driver().press('emma.clarke', answer.id, 'Try again');
    const newest = async () => (await driver().messages('emma.clarke')).filter(({ sender }) => sender === 'bot').at(-1);
    await untilTrue(
      async () => /^1 2 3 4 5 6 7$/.test((await newest())?.text ?? '') && (await newest())?.id !== answer.id,
    );
    await untilTrue(async () => (await driver().answer(message.id))?.text.includes('answered below') ?? false);
    await untilTrue(async () => (await labels(answer.id)).length === 0);
    expect(driver().violations()).toEqual([]);
  }, 60_000);

  test('gives one answer to an event that is delivered three times at once', async () => {
    const before = modelCalls();
    const { message, results } = await driver().deliver('emma.clarke', 'count to 5', 3);
    expect(results.map(({ kind }) => kind)).toEqual(['silent', 'silent', 'silent']);
    await untilAnswered(message.id, /^1 2 3 4 5$/);
    expect(await driver().redeliver(message.id)).toEqual([{ kind: 'silent' }]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(modelCalls() - before).toBe(1);
    const texts = (await driver().messages('emma.clarke')).filter(({ sender }) => sender === 'bot');
    expect(texts.filter(({ text }) => text.trim() === '1 2 3 4 5')).toHaveLength(1);
  }, 60_000);

  test('answers a mention in a channel once, in its thread, and ignores messages without one', async () => {
    const before = modelCalls();
    const silent = await driver().send('emma.clarke', { text: 'count to 3', conversation: { group: 'wrtown' } });
    const said = { text: 'count to 4', conversation: { group: 'wrtown' }, mention: true };
    const { message, answer } = await ask('emma.clarke', said, /^1 2 3 4$/);
    expect(answer.thread?.rootId).toBe(message.id);
    await untilTrue(() => modelCalls() > before);
    expect(modelCalls() - before).toBe(1);
    expect(await driver().answer(silent.id)).toBeUndefined();
  }, 60_000);

  test('answers a reply in the thread of an answer in that thread', async () => {
    const said = { text: 'count to 6', conversation: { group: 'wrtown' }, mention: true };
    const first = await ask('emma.clarke', said, /^1 2 3 4 5 6$/);
    const reply = { ...said, text: 'count to 7', quote: first.answer.id };
    const second = await ask('emma.clarke', reply, /^1 2 3 4 5 6 7$/);
    expect(second.answer.thread?.rootId).toBe(first.message.id);
    expect(second.message.thread?.rootId).toBe(first.message.id);
  }, 60_000);

  test('ends a growing answer on Stop and keeps its text', async () => {
    const message = await driver().send('emma.clarke', 'count to 5000');
    await untilTrue(async () => /\b9\b/.test((await driver().answer(message.id))?.text ?? ''));
    const growing = await driver().answer(message.id);
    await driver().stop('emma.clarke', growing?.id ?? '');
    const answer = await driver().waitForAnswer(message.id, { timeoutMs: 20_000 });
    expect(answer.text).toMatch(/^1 2 3 /);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const later = await driver().answer(message.id);
    expect(later?.state).toBe('final');
    expect(later?.text).not.toContain(' 5000');
  }, 60_000);

  test('shows no link in a channel and sends it to the private chat of an unlinked person [private-invitation]', async () => {
    const said = { text: '你好', conversation: { group: 'wrtown' }, mention: true };
    const { answer } = await ask('linxiaoyu', said, /私/);
    expect(answer.text).not.toContain('/link/');
    await untilTrue(async () => (await driver().messages('linxiaoyu')).some(({ text }) => text.includes('/link/')));
  }, 60_000);

  test('downloads an image from an address that requires the token', async () => {
    const image = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await ask('emma.clarke', { text: 'What is this?', images: [image] }, /1\s*×\s*1|1x1|1 by 1/);
  }, 60_000);

  test('breaks no rule of Slack', () => {
    expect(driver().violations()).toEqual([]);
  });
});
