import { describe, expect, test } from '@jest/globals';
import { formatTarget } from '../../../src/bot/platforms/slack/reply-target.ts';
import { until, usePushedFixture } from './pushed-fixture.ts';

// The platform's messages show what Redis lost in a failover.

const fixture = usePushedFixture();
const { ask, texts } = fixture;
const LONG = 'a sentence of many words. '.repeat(800);

describe.each(['stream', 'edit'] as const)('findCompleteAnswer for an answer pushed by %s', (mode) => {
  test('finds the answer once it has its last snapshot, and not before', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    expect(await live.findCompleteAnswer()).toBeUndefined();
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    const next = await take();
    expect(await next.live.findCompleteAnswer()).toBeUndefined();
    await next.live.finish('Hello, world.', { status: 'a note' });
    const [record] = (await next.live.findCompleteAnswer()) ?? [];
    expect(record?.fields.slice(0, 4)).toEqual(['finished', '1', 'delivery', 'live']);
    expect(record?.fields).toContain('post:0');
  });

  test('finds an answer of two messages only while both exist', async () => {
    const { take } = await ask(mode);
    const { messages } = fixture.slack;
    const { live } = await take();
    await live.finish(LONG);
    expect(messages.length).toBeGreaterThan(1);
    expect(await live.findCompleteAnswer()).toBeDefined();
    // The last message never arrived.
    messages.pop();
    expect(await live.findCompleteAnswer()).toBeUndefined();
  });

  test('finds the answer for each message merged into its turn, and for no other', async () => {
    const merged = await ask(mode, { place: { chat: { kind: 'group', id: 'C1', threadId: '1' } } });
    const other = await ask(mode, { place: { chat: { kind: 'group', id: 'C1', threadId: '2' } } });
    const newest = await ask(mode, {
      mergedIds: [merged.deliveryId],
      place: { chat: { kind: 'group', id: 'C1', threadId: '3' } },
    });
    await (await newest.take()).live.finish('To both of them.');
    expect(await (await merged.take()).live.findCompleteAnswer()).toEqual([
      { id: merged.deliveryId, fields: ['finished', '1', 'delivery', 'live'] },
    ]);
    expect(await (await other.take()).live.findCompleteAnswer()).toBeUndefined();
  });

  test('finds the answer of a merged message in the thread where it was answered', async () => {
    const merged = await ask(mode);
    const target = { channel: 'C1', ts: '1760000000.000200', threadTs: '1760000000.000200' };
    const elsewhere = formatTarget({ ...target, userId: 'U1', teamId: 'T1', isPrivate: false });
    const chat = { kind: 'group', id: 'C1', threadId: 'other' } as const;
    const newest = await ask(mode, { mergedIds: [merged.deliveryId], place: { chat, replyTarget: elsewhere } });
    await (await newest.take()).live.finish('To both of them.');
    const { live } = await merged.take();
    expect(await live.findCompleteAnswer()).toBeUndefined();
    expect(await live.findCompleteAnswer([elsewhere])).toBeDefined();
  });

  test('returns undefined for a turn held for sign-in', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    await live.leaveOpen('Sign in first.');
    expect(await live.findCompleteAnswer()).toBeUndefined();
  });

  test('retries when the platform fails, and then returns undefined so that the question is answered', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    await live.finish('Hello.');
    const busy = { kind: 'status', status: 500 } as const;
    fixture.fault('conversations.replies', busy, busy);
    expect(await live.findCompleteAnswer()).toBeDefined();
    fixture.fault('conversations.replies', busy, busy, busy);
    const elsewhere = formatTarget({ channel: 'C2', userId: 'U1', teamId: 'T1', isPrivate: false });
    fixture.slack.calls.length = 0;
    expect(await live.findCompleteAnswer([elsewhere])).toBeUndefined();
    expect(fixture.slack.calls.filter(({ method }) => method.startsWith('conversations.'))).toHaveLength(3);
  });
});
