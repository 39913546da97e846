import { describe, expect, test } from '@jest/globals';
import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { QUESTION_TS, until, usePushedFixture } from './pushed-fixture.ts';

// Slack may run a call long after its caller gave up, lists messages in pages, and stores no key with a native stream.

const fixture = usePushedFixture();
const { ask, fault, texts, reconcile } = fixture;
const FIRST_POSTS = ['chat.startStream', 'chat.postMessage'];
/** Another person who asks in the same thread. */
const BY_ANOTHER: Partial<InboundMessage> = { sender: { userId: 'U2' } };
const calls = (method: string) => fixture.slack.calls.filter((call) => call.method === method);
const firstPostLate = (byMs: number) =>
  FIRST_POSTS.forEach((method) => fault(method, { kind: 'late', afterMs: byMs, isAnswered: true }));
const firstPostLost = (when: 'before' | 'after') =>
  FIRST_POSTS.forEach((method) => fault(method, { kind: 'cut', when }));

describe.each(['stream', 'edit'] as const)('a late platform (%s)', (mode) => {
  // 6 s, because a call is limited to 5 s.
  test('shows one message when the first post takes effect only after 6 s', async () => {
    const { take } = await ask(mode, { settlesWithinMs: 4_000 });
    firstPostLate(5_600);
    const { live } = await take();
    live.show({ text: 'Hello', status: 'is writing' });
    await endOfTurn();
    await live.finish('Hello, world.');
    await pause(1_000);
    expect(texts()).toEqual(['Hello, world.']);
    expect(fixture.slack.messages[0]).toMatchObject({ buttons: [], isStreaming: false });
    expect(fixture.slack.removed).toEqual([]);
  }, 60_000);

  test('shows one message when the first post takes effect after its worker died', async () => {
    const { take } = await ask(mode, { settlesWithinMs: -3_000 });
    firstPostLate(600);
    const dead = await take();
    dead.live.show({ text: 'Hello' });
    await until(() => FIRST_POSTS.some((method) => calls(method).length > 0));
    const next = await take();
    await next.live.finish('The whole answer.');
    await dead.live.close();
    expect(texts()).toEqual(['The whole answer.']);
    expect(fixture.slack.messages.every(({ isStreaming }) => !isStreaming)).toBe(true);
  });

  test('is searched until a lost post can no longer take effect, before a new post is made', async () => {
    const { take } = await ask(mode, { settlesWithinMs: -3_000 });
    firstPostLost('before');
    const startedMs = performance.now();
    await (await take()).live.finish('Once.');
    expect(texts()).toEqual(['Once.']);
    expect(performance.now() - startedMs).toBeGreaterThan(900);
    expect(calls('conversations.replies').length).toBeGreaterThan(1);
  });

  test.each(['internal_error', 'fatal_error'])(
    'looks twice within seconds for a post that Slack itself ended with %s, and posts it again [looked-up-not-repeated]',
    async (error) => {
      const { take } = await ask(mode, { settlesWithinMs: 600_000 });
      FIRST_POSTS.forEach((method) => fault(method, { kind: 'error', error }));
      await (await take()).live.finish('Once.');
      expect(texts()).toEqual(['Once.']);
      expect(calls('conversations.replies').length).toBeGreaterThan(1);
    },
    60_000,
  );

  test('shows one message when a late post appears after another one was made', async () => {
    const { take } = await ask(mode, { settlesWithinMs: -3_950 });
    firstPostLate(700);
    const dead = await take();
    dead.live.show({ text: 'Hello' });
    await until(() => FIRST_POSTS.some((method) => calls(method).length > 0));
    const next = await take();
    await next.commit(await next.live.finish('The whole answer.'));
    // On a slow machine the late post was found or deleted earlier.
    await until(() => fixture.slack.messages.length + fixture.slack.removed.length === 2 || texts().length === 1);
    await dead.live.close();
    await reconcile();
    expect(texts()).toEqual(['The whole answer.']);
    expect(fixture.slack.messages.every(({ isStreaming }) => !isStreaming)).toBe(true);
  });

  test('shows one message when a late post appears after another one was refused and its worker died', async () => {
    const { take } = await ask(mode, { settlesWithinMs: -3_950 });
    const late = { kind: 'late', afterMs: 1_800, isAnswered: true } as const;
    const refusal = { kind: 'busy', retryAfterSec: 4 } as const;
    fault('chat.startStream', late);
    fault('chat.postMessage', ...(mode === 'stream' ? [refusal] : [late, refusal]));
    const dead = await take();
    dead.live.show({ text: 'Hello' });
    const posts = () => FIRST_POSTS.flatMap((method) => calls(method)).length;
    await until(() => posts() === 1);
    const refusedOne = await take();
    const finished = refusedOne.live.finish('The whole answer.');
    // On a slow machine the late post is found first.
    await until(() => posts() === 2 || texts().length === 1);
    await until(() => texts().length === 1);
    const next = await take();
    await next.commit(await next.live.finish('The whole answer.'));
    await Promise.all([finished, dead.live.close()]);
    await reconcile();
    expect(texts()).toEqual(['The whole answer.']);
  }, 30_000);

  test('shows the last snapshot again after an edit that took effect later', async () => {
    const { take, record } = await ask(mode);
    const first = await take();
    first.live.show({ text: 'Half' });
    // Slack has the message shortly before the ledger has its position. A worker that takes over in between treats the post
    // as lost.
    await until(async () => (await record())['post:0']?.includes(fixture.slack.messages[0]?.ts ?? 'none') === true);
    fixture.slack.endStreams();
    // Another worker takes over while the last edit of the first one is still in transit.
    const next = await take();
    await next.commit(await next.live.finish('The whole answer.'));
    const [message] = fixture.slack.messages;
    if (message) message.text = 'Half an ans';
    expect(await reconcile()).toBe(1);
    expect(texts()).toEqual(['The whole answer.']);
  });

  test('clears a status line that appears only after the answer', async () => {
    const { take } = await ask(mode);
    const { live, commit } = await take();
    // Its caller gives up after 5 s.
    fault('assistant.threads.setStatus', { kind: 'late', afterMs: 6_500, isAnswered: false });
    live.show({ text: '', status: 'waits' });
    await until(() => calls('assistant.threads.setStatus').length === 1);
    await commit(await live.finish('The whole answer.'));
    await until(() => fixture.slack.statuses().length === 1);
    expect(await reconcile()).toBe(1);
    expect([fixture.slack.statuses(), texts()]).toEqual([[], ['The whole answer.']]);
  }, 30_000);

  test('causes no reconciliation of a message posted before the turn began, as for a held question', async () => {
    const { take } = await ask(mode, { wasBegun: false });
    const asking = (await take()).live;
    await asking.leaveOpen('Please sign in first.');
    // Records the position of the message, as the commit of a held turn does.
    await asking.abandon();
    const released = await take();
    await released.commit(await released.live.finish('The whole answer.'));
    expect(texts()).toEqual(['The whole answer.']);
    expect(await reconcile()).toBe(0);
  });
});

describe.each(['stream', 'edit'] as const)('a turn that ends early (%s)', (mode) => {
  test('waits for its first post and records its position', async () => {
    const asked = await ask(mode);
    firstPostLate(300);
    const { live, abort } = await asked.take();
    live.show({ text: 'Hello' });
    await until(() => FIRST_POSTS.some((method) => calls(method).length > 0));
    abort.abort('shutdown');
    await live.abandon();
    expect((await asked.record())['post:0']).toContain(fixture.slack.messages[0]?.ts);
  });

  test('withdraws a first post that was not sent, so that the next worker need not search for it', async () => {
    const asked = await ask(mode);
    const { live, abort } = await asked.take();
    live.prepare();
    abort.abort('shutdown');
    await live.abandon();
    expect((await asked.record())['post:0']).toBeUndefined();
    await (await asked.take()).live.finish('Once.');
    expect(calls('conversations.replies')).toEqual([]);
    expect(texts()).toEqual(['Once.']);
  });

  test('waits at most two seconds, and then leaves its post as uncertain', async () => {
    const asked = await ask(mode);
    firstPostLate(4_000);
    const { live, abort } = await asked.take();
    live.show({ text: 'Hello' });
    await until(() => FIRST_POSTS.some((method) => calls(method).length > 0));
    abort.abort('shutdown');
    await live.abandon();
    // The post ends later.
    expect(await asked.record()).toMatchObject({ 'post:0': 'posting' });
    await live.close();
  });
});

describe('a native stream that its worker lost', () => {
  test('is ended and deleted, and never used for the answer', async () => {
    const { take } = await ask('stream');
    firstPostLost('after');
    const { live } = await take();
    live.show({ text: 'Hello' });
    await endOfTurn();
    await live.finish('Hello, world.');
    expect(texts()).toEqual(['Hello, world.']);
    expect(fixture.slack.removed.map(({ text }) => text)).toEqual(['Hello']);
    expect(fixture.slack.messages[0]?.snapshots.every((snapshot) => snapshot.startsWith('Hello'))).toBe(true);
  });

  test.each(['before', 'after'] as const)(
    '(cut %s it was posted) does not affect another person’s answer in the same thread',
    async (when) => {
      const anna = await (await ask('stream')).take();
      anna.live.show({ text: 'For Anna' });
      await until(() => texts().length === 1);
      firstPostLost(when);
      const ben = await (await ask('stream', { place: BY_ANOTHER })).take();
      ben.live.show({ text: 'For Ben' });
      await endOfTurn();
      await ben.live.finish('For Ben, whole.');
      anna.live.show({ text: 'For Anna, mo' });
      await endOfTurn();
      await anna.live.finish('For Anna, more.');
      expect(texts().toSorted()).toEqual(['For Anna, more.', 'For Ben, whole.']);
      for (const { snapshots } of [...fixture.slack.messages, ...fixture.slack.removed])
        expect(
          snapshots.some((snapshot) => snapshot.includes('Anna')) &&
            snapshots.some((snapshot) => snapshot.includes('Ben')),
        ).toBe(false);
    },
  );

  test('is not deleted while another turn is posting in the thread', async () => {
    const annas = await ask('stream');
    const anna = await annas.take();
    anna.live.prepare();
    await until(async () => (await annas.record())['post:0'] === 'posting');
    firstPostLost('after');
    const ben = await (await ask('stream', { place: BY_ANOTHER, settlesWithinMs: 20_000 })).take();
    ben.live.show({ text: 'For Ben' });
    await endOfTurn();
    const finished = ben.live.finish('For Ben, whole.');
    await until(() => calls('conversations.replies').length > 3);
    expect(fixture.slack.removed).toEqual([]);
    anna.live.show({ text: 'For Anna' });
    await until(() => texts().includes('For Anna'));
    await finished;
    await anna.live.finish('For Anna, whole.');
    expect(texts().toSorted()).toEqual(['For Anna, whole.', 'For Ben, whole.']);
    expect(fixture.slack.removed.map(({ text }) => text)).toEqual(['For Ben']);
  });

  test('is deleted for each of two people in one thread, and each person has one answer', async () => {
    const lost = async (place: Partial<InboundMessage>, text: string) => {
      const asked = await ask('stream', { place, settlesWithinMs: -3_000 });
      fault('chat.startStream', { kind: 'cut', when: 'after' });
      const dead = await asked.take();
      dead.live.show({ text });
      const sent = calls('chat.startStream').length;
      await until(() => calls('chat.startStream').length > sent);
      return (await asked.take()).live;
    };
    const anna = await lost({}, 'For Anna');
    const ben = await lost(BY_ANOTHER, 'For Ben');
    await Promise.all([anna.finish('For Anna, whole.'), ben.finish('For Ben, whole.')]);
    expect(texts().toSorted()).toEqual(['For Anna, whole.', 'For Ben, whole.']);
    expect(fixture.slack.removed.map(({ text }) => text).toSorted()).toEqual(['For Anna', 'For Ben']);
  });

  test('is replaced by a new post when its worker recorded it too late', async () => {
    const { take, platform } = await ask('stream');
    const { live } = await take();
    const { server } = fixture;
    // Another turn had claimed the stream as an orphan before its worker could record it.
    fault('chat.startStream', { kind: 'late', afterMs: 0, isAnswered: true, answeredAfterMs: 300 });
    live.show({ text: 'Hello' });
    await until(() => fixture.slack.messages.length === 1);
    const [place = ''] = await server.redis.keys('*:place:*');
    const { channel = '', ts = '' } = fixture.slack.messages[0] ?? {};
    await server.redis.zadd(place, Date.now(), `stray:${channel}/${ts}`);
    await platform.push?.remove(`${channel}/${ts}`, true);
    await until(() => calls('chat.startStream').length === 1);
    live.show({ text: 'Hello, wor' });
    await endOfTurn();
    await live.finish('Hello, world.');
    expect(texts()).toEqual(['Hello, world.']);
  });

  test('is deleted without touching other messages of the same token', async () => {
    const { take } = await ask('stream');
    const said = { text: 'A reminder', note: '', buttons: [], snapshots: ['A reminder'], snapshotAtMs: [0] };
    fixture.slack.messages.push({
      ...{ channel: 'C1', ts: '1760000999.000001', threadTs: QUESTION_TS, user: 'UBOT', isStreaming: false },
      ...said,
    });
    firstPostLost('after');
    const { live } = await take();
    live.show({ text: 'Hello' });
    await endOfTurn();
    await live.finish('Hello, world.');
    expect(texts()).toEqual(['A reminder', 'Hello, world.']);
    expect(fixture.slack.messages[0]?.snapshots).toEqual(['A reminder']);
  });
});

test('waits for a post that may have been lost in a failover, like for any uncertain post', async () => {
  const asked = await ask('edit', { settlesWithinMs: -3_000 });
  const [key = ''] = await fixture.server.redis.keys('*:message:*');
  await fixture.server.redis.hset(key, 'again', '1');
  const { live } = await asked.take();
  const startedMs = performance.now();
  await live.finish('Once.');
  expect(performance.now() - startedMs).toBeGreaterThan(900);
  expect(texts()).toEqual(['Once.']);
});

test('searches only for moments for a post that only a failover makes possible', async () => {
  const asked = await ask('edit', { settlesWithinMs: 600_000 });
  const [key = ''] = await fixture.server.redis.keys('*:message:*');
  await fixture.server.redis.hset(key, 'again', '1');
  await (await asked.take()).live.finish('Once.');
  expect(texts()).toEqual(['Once.']);
  expect(calls('conversations.replies').length).toBeGreaterThanOrEqual(2);
});

test('reads every page when it searches for a post', async () => {
  for (let count = 0; count < 5; count += 1) {
    const { live } = await (await ask('edit', { place: BY_ANOTHER })).take();
    await live.finish(`Before, ${count}`);
  }
  fixture.slack.pageSize = 2;
  fault('chat.postMessage', { kind: 'cut', when: 'after' });
  await (await (await ask('edit')).take()).live.finish('Once.');
  expect(texts().filter((text) => text === 'Once.')).toHaveLength(1);
  expect(calls('conversations.replies').map(({ args }) => args['cursor'])).toEqual([undefined, '2', '4']);
});
