import { describe, expect, test } from '@jest/globals';
import { until, usePushedFixture } from './pushed-fixture.ts';

const fixture = usePushedFixture();
const { ask, fault, texts } = fixture;

describe.each(['stream', 'edit'] as const)('posting an answer (%s)', (mode) => {
  test('records a post before it leaves, and its message once it exists [noted-before-posted]', async () => {
    const recorded: (string | undefined)[] = [];
    const asked = await ask(mode, {
      onCall: async () => void recorded.push((await asked.record())['post:0']),
    });
    const { live } = await asked.take();
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    await live.finish('Hello, world.');
    expect(recorded[0]).toBe('posting');
    expect(recorded.length).toBeGreaterThan(1);
    const { ts = '' } = fixture.slack.messages[0] ?? {};
    for (const handle of recorded.slice(1)) expect(handle).toContain(ts);
  });

  test('stores the full text before the last edit and removes it with the commit [noted-before-posted]', async () => {
    const stored: boolean[] = [];
    const asked = await ask(mode, {
      onCall: async () => void stored.push((await asked.state())['answer'] !== undefined),
    });
    const { live, commit } = await asked.take();
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    const records = await live.finish('Hello, world.');
    expect(stored[0]).toBe(false);
    expect(stored.at(-1)).toBe(true);
    await commit(records);
    expect((await asked.state())['answer']).toBeUndefined();
    expect(await asked.record()).toMatchObject({ state: 'final' });
  });

  test('sends no last edit from a fenced worker [noted-before-posted]', async () => {
    const { take } = await ask(mode);
    const old = await take();
    old.live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    const calls = fixture.slack.calls.length;
    await take();
    expect(await old.live.finish('Hello, from the past.')).toEqual([]);
    expect(fixture.slack.calls.length).toBe(calls);
  });

  test('records the position of the last snapshot with the commit [noted-before-posted]', async () => {
    const asked = await ask(mode);
    const { live, commit } = await asked.take();
    const records = await live.finish('At once.');
    expect((await asked.record())['post:0']).toBe('posting');
    await commit(records);
    expect((await asked.record())['post:0']).toContain(fixture.slack.messages[0]?.ts);
  });

  test('checks the fence and records `posting` while the first word is awaited [noted-before-posted]', async () => {
    const asked = await ask(mode);
    const { live } = await asked.take();
    live.prepare();
    await until(async () => (await asked.record())['post:0'] === 'posting');
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    await live.finish('Hello, world.');
    expect(texts()).toEqual(['Hello, world.']);
  });

  test('uses an early fence check only while the lock is certainly held [fence]', async () => {
    let isHeld = true;
    const asked = await ask(mode, { isClaimHeld: () => isHeld });
    const frozen = await asked.take();
    frozen.live.prepare();
    await until(async () => (await asked.record())['post:0'] === 'posting');
    isHeld = false;
    await asked.take();
    frozen.live.show({ text: 'From the past' });
    await until(() => frozen.isFenced());
    expect(texts()).toEqual([]);
  });

  test('searches for a prepared post of a former worker before the next worker posts [looked-up-not-repeated]', async () => {
    const order: string[] = [];
    const asked = await ask(mode, { onCall: async (method) => void order.push(method) });
    (await asked.take()).live.prepare();
    await until(async () => (await asked.record())['post:0'] === 'posting');
    await (await asked.take()).live.finish('Once.');
    expect(order.slice(0, 2)).toEqual(['find', 'find']);
    expect(order.filter((method) => method !== 'find')).toEqual(['open']);
    expect(texts()).toEqual(['Once.']);
  });

  test.each(['a model that thinks for long', 'a refused post'] as const)(
    'clears the note after %s, so that the next worker posts without a search [noted-before-posted]',
    async (because) => {
      const order: string[] = [];
      const noted: (string | undefined)[] = [];
      const asked = await ask(mode, {
        async onCall(method) {
          order.push(method);
          noted.push((await asked.record())['post:0']);
        },
      });
      const { live } = await asked.take();
      if (because === 'a refused post')
        for (const method of ['chat.startStream', 'chat.postMessage'])
          fault(method, { kind: 'busy', retryAfterSec: 30 });
      live.prepare();
      await until(async () => (await asked.record())['post:0'] === 'posting');
      if (because === 'a refused post') live.show({ text: 'Hello' });
      await until(async () => (await asked.record())['post:0'] === undefined);
      const isFirstPosting = order.length === 0;
      // The first worker itself notes its post again.
      if (isFirstPosting) live.show({ text: 'Hello' });
      else await (await asked.take()).live.finish('Once.');
      await until(() => texts().length === 1);
      expect(noted).not.toContain(undefined);
      expect(order).not.toContain('find');
      if (isFirstPosting) await live.finish('Once.');
      expect(texts()).toEqual(['Once.']);
    },
  );

  test('searches for an uncertain post before anything is posted again [looked-up-not-repeated]', async () => {
    const order: string[] = [];
    const { take } = await ask(mode, { onCall: async (method) => void order.push(method) });
    for (const method of ['chat.startStream', 'chat.postMessage']) fault(method, { kind: 'cut', when: 'after' });
    const { live } = await take();
    await live.finish('Once.');
    expect(texts()).toEqual(['Once.']);
    expect(order.slice(0, 2)).toEqual(['open', 'find']);
    expect(order.filter((method) => method === 'open')).toHaveLength(1);
  });

  test('posts nothing while the platform cannot say whether a post exists [looked-up-not-repeated]', async () => {
    const { take } = await ask(mode);
    for (const method of ['chat.startStream', 'chat.postMessage']) fault(method, { kind: 'cut', when: 'after' });
    fault('conversations.replies', { kind: 'status', status: 503 }, { kind: 'cut', when: 'before' });
    await (await take()).live.finish('Once.');
    expect(texts()).toEqual(['Once.']);
  });

  test('uses the same search key in every worker [looked-up-not-repeated]', async () => {
    const { take } = await ask(mode);
    await (await take()).live.finish('First.');
    await (await take()).live.finish('Second.');
    expect(texts()).toEqual(['Second.']);
    expect(fixture.slack.messages[0]?.metadata?.event_payload?.key).toMatch(/^[0-9a-f]{32}$/);
  });

  test('shows whole texts at the platform’s pace: the first at once, then the newest of each gap [whole-texts]', async () => {
    const { take } = await ask(mode, { minEditGapMs: 150 });
    const { live } = await take();
    // The clock of the fake does not advance, so a gap ends only with the reply.
    live.show({ text: 'one' });
    await until(() => texts().includes('one'));
    for (const text of ['one two', 'one two three', 'one two three four']) live.show({ text });
    await live.finish('one two three four five');
    expect(fixture.slack.messages[0]?.snapshots.at(-1)).toBe('one two three four five');
    expect(fixture.slack.messages[0]?.snapshots.length).toBeLessThanOrEqual(3);
    for (const snapshot of fixture.slack.messages[0]?.snapshots ?? [])
      expect('one two three four five'.startsWith(snapshot.trim())).toBe(true);
  });
});
