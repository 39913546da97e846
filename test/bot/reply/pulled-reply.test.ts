import { expect, test } from '@jest/globals';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { usePulledFixture, words } from './pulled-fixture.ts';

const fixture = usePulledFixture();
const { postedLater } = fixture;

test('a poll right after the accept finds an open, empty reply', async () => {
  const { poll } = await fixture.open();
  expect(await poll()).toMatchObject({ content: '', finished: false });
});

test('a poll shows partial text at once, and the final text after the commit', async () => {
  const { live, poll, finish } = await fixture.open();
  live.show({ text: 'He' });
  live.show({ text: 'Hello' });
  await endOfTurn();
  await live.close();
  expect((await poll()).content).toMatch(/^He/);
  await finish('Hello, Alice.');
  expect(await poll()).toMatchObject({ content: 'Hello, Alice.', finished: true });
});

test("another person's poll, and one for an unknown reply, end with a notice and no content", async () => {
  const { live, poll, keyOf } = await fixture.open();
  live.show({ text: 'for alice alone' });
  await endOfTurn();
  await live.close();
  const other = await poll(0, 'mallory');
  expect(other.finished).toBe(true);
  expect(other.content).not.toContain('alice');
  await fixture.server.redis.del(keyOf(0));
  expect((await poll()).content).toBe(other.content);
});

test('a worker of an older epoch shows nothing and learns that it is fenced [fence]', async () => {
  const { live, poll, isFenced, claim } = await fixture.open();
  await fixture.store.begin(claim.conversation);
  live.show({ text: 'from a frozen worker' });
  await endOfTurn();
  await live.close();
  expect(isFenced()).toBe(true);
  expect((await poll()).content).toBe('');
});

test('a reply that was not polled after a failover is given again, whole for a poll that comes after all', async () => {
  const { live, poll, keyOf, claim } = await fixture.open([40_000]);
  live.show({ text: 'Half of' });
  await endOfTurn();
  await live.close();
  const { redis } = fixture.server;
  await redis.hset(keyOf(0), { again: '1', againMs: String(Date.now() - 31_000) });
  expect(await live.findCompleteAnswer()).toBeUndefined();
  await fixture.store.commit(claim, {
    outcome: 'final',
    records: await live.finish('Half of the answer, and its end.'),
  });
  expect(await poll()).toMatchObject({ content: 'Half of the answer, and its end.', finished: true });
});

test('a reply is stored encrypted', async () => {
  const { live, keyOf } = await fixture.open();
  live.show({ text: 'canary-in-the-reply' });
  await endOfTurn();
  await live.close();
  const record = await fixture.server.redis.hgetall(keyOf(0));
  expect(JSON.stringify(record)).not.toContain('canary');
  expect(record['content']).toMatch(/^s1\./);
});

test('a receiver without the key does not end an answer that another can show, until its time limit', async () => {
  const { pollElsewhere, poll, finish, pass } = await fixture.open();
  await finish('Hello, Alice.');
  expect(await pollElsewhere()).toMatchObject({ content: '', finished: false });
  expect(await poll()).toMatchObject({ content: 'Hello, Alice.', finished: true });
  await pass(5.5 * MINUTE_MS);
  expect(await pollElsewhere()).toMatchObject({ finished: true });
});

test("a poll ends the live reply before WeCom's six-minute limit, and the answer goes by the response_url", async () => {
  const { live, poll, finish, pass } = await fixture.open();
  live.show({ text: 'partial' });
  await endOfTurn();
  await live.close();
  await pass(5.5 * MINUTE_MS);
  const ended = await poll();
  expect(ended.finished).toBe(true);
  expect(ended.content).not.toContain('partial');
  await finish('the whole answer');
  expect(postedLater).toEqual(['the whole answer']);
  expect((await poll()).content).toBe(ended.content);
});

test.each([
  { jump: 'ten minutes back', byMs: -10 * MINUTE_MS },
  { jump: 'ten minutes forward', byMs: 10 * MINUTE_MS },
])(
  'a worker whose clock jumps $jump during an answer ends it where it is visible, live or below [wrong-clocks]',
  async ({ byMs }) => {
    const quick = await fixture.open();
    fixture.workerAheadMs = byMs;
    await quick.pass(5.4 * MINUTE_MS);
    await quick.finish('in time');
    expect(await quick.poll()).toMatchObject({ content: 'in time', finished: true });
    expect(postedLater).toEqual([]);

    const slow = await fixture.open();
    fixture.workerAheadMs = 0;
    await slow.pass(5.5 * MINUTE_MS);
    await slow.finish('too late');
    expect(postedLater).toEqual(['too late']);
  },
);

test('a refusal after an uncertain post means that the first one arrived [looked-up-not-repeated]', async () => {
  const { finish, pass, keyOf } = await fixture.open();
  await pass(5.5 * MINUTE_MS);
  fixture.laterResults.push('uncertain', 'refused');
  await finish('once only');
  expect(postedLater).toHaveLength(2);
  expect(await fixture.server.redis.hget(keyOf(0), 'delivery')).toBe('sent');
});

test('an open invitation stays after the handover, because the answer follows below it', async () => {
  const { live, claim, poll, pass } = await fixture.open();
  await fixture.store.commit(claim, { outcome: 'held', records: await live.leaveOpen('please sign in: LINK') });
  expect(await poll()).toMatchObject({ content: 'please sign in: LINK', finished: false });
  await pass(5.5 * MINUTE_MS);
  expect(await poll()).toMatchObject({ content: 'please sign in: LINK', finished: true });
});

test('a text too long for one message fills it and continues by the response_url', async () => {
  const { finish, poll } = await fixture.open();
  const text = Array.from({ length: 900 }, (_, line) => `line ${line} of a long answer`).join('\n');
  await finish(text);
  const first = (await poll()).content;
  expect(Buffer.byteLength(first)).toBeLessThanOrEqual(20_480);
  expect(first).toContain(REPLY_TEXTS.goesOn.en);
  expect(words(first, ...postedLater)).toEqual(words(text));
});

test('a notice is shown in the thinking block, apart from the text', async () => {
  const { finish, poll } = await fixture.open();
  await finish('The answer.', 'Signed in as Alice.');
  expect((await poll()).content).toBe('<think>ℹ️ Signed in as Alice.</think>\nThe answer.');
});

test('a long answer is complete although status and thinking take room in its message', async () => {
  const { live, claim, poll, keyOf, bring } = await fixture.open();
  const text = Array.from({ length: 4_700 }, (_, index) => `n${index}`).join(' ');
  const records = await live.finish(text, {
    status: 'Answered by another model.',
    thinking: 'thought '.repeat(900),
  });
  await fixture.store.commit(claim, { outcome: 'final', records });
  await bring();
  const { content } = await poll();
  const [, shown = ''] = content.split('</think>\n');
  expect(content).toContain('Answered by another model.');
  expect(words(shown, ...postedLater)).toEqual(text.split(' '));
  const raw = JSON.stringify(await fixture.server.redis.hgetall(keyOf(0)));
  expect(raw).not.toContain('thought');
});
