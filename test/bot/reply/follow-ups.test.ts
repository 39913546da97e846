import { describe, expect, test } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, followUpKeyPrefix, followUpsKey } from '../../../src/bot/domain/partition-keys.ts';
import { openDeferredMessage } from '../../../src/bot/reply/follow-ups/deferred-messages.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { usePulledFixture, words, type PulledTurn } from './pulled-fixture.ts';

const fixture = usePulledFixture();
const { postedLater, laterResults, writtenPrivately, privateResults, tries, reported } = fixture;
/** About 35 KB: more than one WeCom message can contain, and less than two. */
const LONG = Array.from({ length: 1_300 }, (_, line) => `line ${line} of a long answer`).join('\n');
const times = <Result>(count: number, result: Result) => Array.from({ length: count }, () => result);

/** The stored text that the person's next private reply begins with. */
async function leftover({ claim }: PulledTurn): Promise<string | undefined> {
  const { leftovers } = conversationKeys(claim.conversation);
  const kept = await fixture.server.redis.lrange(leftovers, 0, -1);
  return openDeferredMessage(fixture.keyRing, claim.conversation, kept)?.text;
}
const withoutHeading = (text: string) => text.replace(REPLY_TEXTS.restOfAnswer.en, '');
/** The routes that were tried, in order. */
const ways = () => [...new Set(tries.map(({ way }) => way))];
/** The private messages as one text. */
const writtenText = (from = 0) =>
  withoutHeading(
    writtenPrivately
      .slice(from)
      .map(({ text }) => text)
      .join(''),
  );
const duesOf = ({ claim }: PulledTurn) => followUpsKey(claim.conversation.partition);
/** Expires the hold of a silent worker on the follow-up that it took. */
async function forget(turn: PulledTurn): Promise<void> {
  const [id = ''] = await fixture.server.redis.zrange(duesOf(turn), '0', '0');
  await fixture.server.redis.zadd(duesOf(turn), 0, id);
}

test('finishes the live message, with a note that the answer continues, before the rest is sent', async () => {
  const turn = await fixture.open();
  await turn.commitOnly(LONG);
  const { content, finished } = await turn.poll();
  expect(finished).toBe(true);
  expect(content).toContain(REPLY_TEXTS.goesOn.en);
  expect(tries).toEqual([]);
  await turn.bring();
  expect(words(content, ...postedLater)).toEqual(words(LONG));
  expect(reported).toEqual(['sent']);
  expect(await fixture.server.redis.hget(turn.keyOf(0), 'delivery')).toBe('sent');
  expect(await fixture.server.redis.zcard(duesOf(turn))).toBe(0);
});

test.each(['busy', 'unauthorised', 'uncertain'] as const)(
  'sends the rest although WeCom was %s for minutes',
  async (result) => {
    const turn = await fixture.open();
    laterResults.push(...times(14, result));
    await turn.finish(LONG);
    expect(postedLater).toHaveLength(15);
    expect(reported).toEqual(['sent']);
    const [first, last] = [tries[0]?.atMs ?? 0, tries.at(-1)?.atMs ?? 0];
    expect(last - first).toBeGreaterThan(4 * MINUTE_MS);
    expect(last - first).toBeLessThan(10 * MINUTE_MS);
  },
);

test('stores the rest after ten minutes, encrypted, for the next private reply of the person who asked', async () => {
  const turn = await fixture.open();
  laterResults.push(...times(100, 'busy' as const));
  await turn.finish(LONG);
  expect((tries.at(-1)?.atMs ?? 0) - (tries[0]?.atMs ?? 0)).toBeGreaterThan(9 * MINUTE_MS);
  expect(tries.length).toBeLessThan(40);
  expect(reported).toEqual(['kept']);
  expect(words((await turn.poll()).content, withoutHeading((await leftover(turn)) ?? ''))).toEqual(words(LONG));
  const kept = await fixture.server.redis.lrange(conversationKeys(turn.claim.conversation).leftovers, 0, -1);
  expect(kept.join()).not.toContain('long answer');
});

test('sends the rest as messages of the self-built app when the response_url is refused', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  laterResults.push('busy', 'refused');
  privateResults.push('unauthorised', 'uncertain');
  await turn.finish(LONG);
  expect(ways()).toEqual(['handle', 'private']);
  expect(tries.filter(({ way }) => way === 'handle')).toHaveLength(2);
  expect(new Set(writtenPrivately.map(({ userId }) => userId))).toEqual(new Set(['alice']));
  // The first of these messages took three attempts.
  expect(new Set(writtenPrivately.slice(0, 3).map(({ text }) => text)).size).toBe(1);
  expect(words((await turn.poll()).content, writtenText(2))).toEqual(words(LONG));
  expect(reported).toEqual(['sent']);
  expect(await leftover(turn)).toBeUndefined();
});

test('puts the rest before the next private reply when WeCom refuses the app too', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  laterResults.push('refused');
  privateResults.push('refused');
  await turn.finish(LONG);
  expect(tries.map(({ way }) => way)).toEqual(['handle', 'private']);
  expect(reported).toEqual(['kept']);
  expect(await leftover(turn)).toContain('long answer');
});

test('does not use a response_url older than an hour, whatever the results of earlier attempts', async () => {
  const turn = await fixture.open();
  await turn.pass(HOUR_MS - 2 * MINUTE_MS);
  laterResults.push(...times(100, 'uncertain' as const));
  await turn.finish('The answer.');
  expect((tries.at(-1)?.atMs ?? 0) - (tries[0]?.atMs ?? 0)).toBeLessThan(MINUTE_MS);
  expect(await leftover(turn)).toBe(`${REPLY_TEXTS.earlierAnswer.en}\n\nThe answer.`);
});

test('delivers an answer longer than two messages completely', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  const veryLong = LONG + LONG;
  await turn.finish(veryLong);
  expect(ways()).toEqual(['handle', 'private']);
  expect(postedLater[0]).toContain(REPLY_TEXTS.goesOn.en);
  const shown = [(await turn.poll()).content, ...postedLater, writtenText()];
  expect(words(...shown)).toEqual(words(veryLong));
});

test('delivers a whole answer below its live message completely when it needs several routes', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  await turn.pass(7 * MINUTE_MS);
  await turn.finish(LONG);
  expect(ways()).toEqual(['handle', 'private']);
  const shown = [...postedLater, writtenText()];
  expect(words(...shown)).toEqual(words(LONG));
});

test.each(['sent', 'refused'] as const)(
  'shows the status of a whole answer with it, once, when the response_url is %s [ai-mark]',
  async (result) => {
    const turn = await fixture.open();
    fixture.hasApp = true;
    laterResults.push(result);
    await turn.pass(7 * MINUTE_MS);
    await turn.finish('The answer.', 'Stopped.\nAI-generated');
    const below = result === 'sent' ? postedLater.at(-1) : writtenPrivately.at(-1)?.text;
    expect(below).toMatch(/The answer\.\n\nStopped\.\nAI-generated$/);
    expect((await turn.poll()).content).not.toContain('AI-generated');
  },
);

describe('a worker that takes over follow-ups [looked-up-not-repeated]', () => {
  test('sends those of a worker that died before its first attempt', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    await turn.bring();
    expect(reported).toEqual(['sent']);
  });

  test('treats a refusal as delivery when its predecessor died during a post', async () => {
    const turn = await fixture.open();
    fixture.hasApp = true;
    await turn.commitOnly(LONG);
    const died = new Promise<never>(() => undefined);
    const dying = fixture.worker(() => died);
    await dying.deliverDue(turn.claim.conversation.partition);
    while (tries.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await turn.bring();
    expect(tries).toHaveLength(1);
    await forget(turn);
    laterResults.push('busy', 'unauthorised', 'refused');
    await turn.bring();
    expect(tries.map(({ way }) => way)).toEqual(times(4, 'handle'));
    expect(reported).toEqual(['sent']);
    expect(await leftover(turn)).toBeUndefined();
  });

  test('is the only one to send after its predecessor was silent for too long', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    // The other worker sends first.
    laterResults.push('sent', 'busy');
    const slow = fixture.worker(async () => {
      if (tries.length > 1) return;
      await forget(turn);
      await turn.bring(fixture.worker());
    });
    await turn.bring(slow);
    expect(tries).toHaveLength(2);
    expect(reported).toEqual(['sent']);
  });

  test('delivers alone, and a predecessor that was silent beyond the time limit stores nothing for the next reply', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    laterResults.push('sent', 'busy');
    const slow = fixture.worker(async () => {
      if (tries.length > 1) return;
      await forget(turn);
      await turn.bring(fixture.worker());
      await turn.pass(11 * MINUTE_MS);
    });
    await turn.bring(slow);
    expect(tries).toHaveLength(2);
    expect(await leftover(turn)).toBeUndefined();
    expect(reported).toEqual(['sent']);
  });

  test('continues at once after an orderly stop between two attempts', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    laterResults.push('uncertain', 'refused');
    let closed: Promise<void> | undefined;
    const stopping = fixture.worker(async () => void (closed ??= stopping.close()));
    await turn.bring(stopping);
    await closed;
    expect(tries).toHaveLength(1);
    await turn.bring();
    expect(tries).toHaveLength(2);
    expect(reported).toEqual(['sent']);
  });
});

test('follow-ups are stored encrypted and expire with their message', async () => {
  const turn = await fixture.open();
  await turn.commitOnly(LONG);
  const [key = ''] = await fixture.server.redis.keys(`${followUpKeyPrefix(turn.claim.conversation.partition)}*`);
  expect(JSON.stringify(await fixture.server.redis.hgetall(key))).not.toMatch(/long answer|example\.test/);
  expect(await fixture.server.redis.pttl(key)).toBeGreaterThan(23 * HOUR_MS);
  await fixture.server.redis.del(key);
  await turn.bring();
  expect([tries, await fixture.server.redis.zcard(duesOf(turn))]).toEqual([[], 0]);
});
