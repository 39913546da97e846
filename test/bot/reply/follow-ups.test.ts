import { describe, expect, test } from '@jest/globals';
import { HOUR_MS, MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, followUpKeyPrefix, followUpsKey } from '../../../src/bot/domain/partition-keys.ts';
import { openLeftover } from '../../../src/bot/reply/follow-ups/deferred-messages.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { usePulledFixture, words, type PulledTurn } from './pulled-fixture.ts';

const fixture = usePulledFixture();
const { postedLater, laterResults, writtenPrivately, privateResults, tries, reported } = fixture;
/** About 35 KB: more than one message of WeCom holds, and less than two. */
const LONG = Array.from({ length: 1_300 }, (_, line) => `line ${line} of a long answer`).join('\n');
const times = <Result>(count: number, result: Result) => Array.from({ length: count }, () => result);

/** What the person's next private reply begins with. */
async function leftover({ claim }: PulledTurn): Promise<string | undefined> {
  const { leftovers } = conversationKeys(claim.conversation);
  const kept = await fixture.server.redis.lrange(leftovers, 0, -1);
  return openLeftover(fixture.keyRing, claim.conversation, kept)?.text;
}
const withoutHeading = (text: string) => text.replace(REPLY_TEXTS.restOfAnswer.en, '');
/** The ways that were tried, in their order. */
const ways = () => [...new Set(tries.map(({ way }) => way))];
/** What was written privately, as one text. */
const writtenText = (from = 0) =>
  withoutHeading(
    writtenPrivately
      .slice(from)
      .map(({ text }) => text)
      .join(''),
  );
const duesOf = ({ claim }: PulledTurn) => followUpsKey(claim.conversation.partition);
/** Lets the time go by for which a worker that is silent holds what it took. */
async function forget(turn: PulledTurn): Promise<void> {
  const [id = ''] = await fixture.server.redis.zrange(duesOf(turn), '0', '0');
  await fixture.server.redis.zadd(duesOf(turn), 0, id);
}

test('the live message is finished before the rest is tried, and says where it goes on', async () => {
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
  'the rest comes although WeCom was %s for minutes',
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

test('after ten minutes it is kept, sealed, for the next private reply of the person who asked', async () => {
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

test('a refused address leads to a message of the self-built app, where there is one', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  laterResults.push('busy', 'refused');
  privateResults.push('unauthorised', 'uncertain');
  await turn.finish(LONG);
  expect(ways()).toEqual(['handle', 'private']);
  expect(tries.filter(({ way }) => way === 'handle')).toHaveLength(2);
  expect(new Set(writtenPrivately.map(({ userId }) => userId))).toEqual(new Set(['alice']));
  // The first message of it took three tries.
  expect(new Set(writtenPrivately.slice(0, 3).map(({ text }) => text)).size).toBe(1);
  expect(words((await turn.poll()).content, writtenText(2))).toEqual(words(LONG));
  expect(reported).toEqual(['sent']);
  expect(await leftover(turn)).toBeUndefined();
});

test('where WeCom refuses the app too, the next private reply begins with it', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  laterResults.push('refused');
  privateResults.push('refused');
  await turn.finish(LONG);
  expect(tries.map(({ way }) => way)).toEqual(['handle', 'private']);
  expect(reported).toEqual(['kept']);
  expect(await leftover(turn)).toContain('long answer');
});

test('the address is not tried once its hour is over, whatever is not known of earlier tries', async () => {
  const turn = await fixture.open();
  await turn.pass(HOUR_MS - 2 * MINUTE_MS);
  laterResults.push(...times(100, 'uncertain' as const));
  await turn.finish('The answer.');
  expect((tries.at(-1)?.atMs ?? 0) - (tries[0]?.atMs ?? 0)).toBeLessThan(MINUTE_MS);
  expect(await leftover(turn)).toBe(`${REPLY_TEXTS.earlierAnswer.en}\n\nThe answer.`);
});

test('an answer longer than two messages is cut nowhere', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  const veryLong = LONG + LONG;
  await turn.finish(veryLong);
  expect(ways()).toEqual(['handle', 'private']);
  expect(postedLater[0]).toContain(REPLY_TEXTS.goesOn.en);
  const shown = [(await turn.poll()).content, ...postedLater, writtenText()];
  expect(words(...shown)).toEqual(words(veryLong));
});

test('an answer that comes whole behind its live message is cut nowhere where it needs several ways', async () => {
  const turn = await fixture.open();
  fixture.hasApp = true;
  await turn.pass(7 * MINUTE_MS);
  await turn.finish(LONG);
  expect(ways()).toEqual(['handle', 'private']);
  const shown = [...postedLater, writtenText()];
  expect(words(...shown)).toEqual(words(LONG));
});

describe('another worker goes on [looked-up-not-repeated]', () => {
  test('from where one died before it tried', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    await turn.bring();
    expect(reported).toEqual(['sent']);
  });

  test('from where one died in its post: what is refused then has arrived', async () => {
    const turn = await fixture.open();
    fixture.hasApp = true;
    await turn.commitOnly(LONG);
    const died = new Promise<never>(() => undefined);
    const dying = fixture.worker(() => died);
    await dying.takeUp(turn.claim.conversation.partition);
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

  test('and one that was silent for too long sends nothing more', async () => {
    const turn = await fixture.open();
    await turn.commitOnly(LONG);
    // The other one's comes first.
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

  test('and one that was silent beyond the time for tries keeps nothing for the next reply', async () => {
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

  test('at once, when an orderly stop comes between two tries', async () => {
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

test('what a commit leaves to follow is sealed, and expires with its message', async () => {
  const turn = await fixture.open();
  await turn.commitOnly(LONG);
  const [key = ''] = await fixture.server.redis.keys(`${followUpKeyPrefix(turn.claim.conversation.partition)}*`);
  expect(JSON.stringify(await fixture.server.redis.hgetall(key))).not.toMatch(/long answer|example\.test/);
  expect(await fixture.server.redis.pttl(key)).toBeGreaterThan(23 * HOUR_MS);
  await fixture.server.redis.del(key);
  await turn.bring();
  expect([tries, await fixture.server.redis.zcard(duesOf(turn))]).toEqual([[], 0]);
});
