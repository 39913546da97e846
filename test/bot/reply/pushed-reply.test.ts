import { describe, expect, test } from '@jest/globals';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import type { SlackFault } from '../../support/fake-slack.ts';
import { QUESTION_TS, until, usePushedFixture } from './pushed-fixture.ts';
import { tries } from '../../support/tries.ts';

const fixture = usePushedFixture();
const { ask, fault, texts, advance } = fixture;

describe.each(['stream', 'edit'] as const)('an answer pushed by %s', (mode) => {
  test('grows in one message and ends as the whole text', async () => {
    const { take, record } = await ask(mode);
    const { live, stored, commit } = await take();
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    live.show({ text: 'Hello, wor' });
    await until(() => texts().includes('Hello, wor'));
    const records = await live.finish('Hello, world.');
    await commit(records);
    expect(texts()).toEqual(['Hello, world.']);
    expect(fixture.slack.messages[0]).toMatchObject({ isStreaming: false, threadTs: QUESTION_TS });
    expect(stored).toEqual(['Hello, world.']);
    expect(await record()).toMatchObject({ state: 'final', finished: '1', delivery: 'live' });
    const methods = fixture.slack.calls.map(({ method }) => method);
    expect(methods).toEqual(
      mode === 'stream'
        ? ['chat.startStream', 'chat.appendStream', 'chat.stopStream']
        : ['chat.postMessage', 'chat.update', 'chat.update'],
    );
  });

  test('clears its status line once there is text, and does not set it twice', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    const statuses = () =>
      fixture.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => args['status']);
    live.show({ text: '', status: 'is reading' });
    await until(() => statuses().length === 1);
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    await live.finish('Hello, world.');
    expect(statuses()).toEqual(['is reading', '']);
  });

  test('clears the status line of a dead worker once it is shown in the existing message', async () => {
    const { take } = await ask(mode);
    const first = await take();
    first.live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    // The second worker waits, sets its status and dies as well.
    const second = await take();
    second.live.show({ text: '', status: 'waits' });
    await until(() => fixture.slack.statuses().length === 1);
    const third = await take();
    await third.live.finish('Hello, world.');
    expect([fixture.slack.statuses(), texts()]).toEqual([[], ['Hello, world.']]);
  });

  test('has no status line of a worker whose claim another worker may have taken', async () => {
    let isHeld = () => false;
    const { take } = await ask(mode, { isClaimHeld: () => isHeld() });
    const { live } = await take();
    const statuses = () =>
      fixture.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => args['status']);
    live.show({ text: '', status: 'is reading' });
    await sleep(100);
    expect(statuses()).toEqual([]);
    // The claim is lost while Slack is being called.
    isHeld = () => statuses().length === 0;
    live.show({ text: '', status: 'is searching' });
    await until(() => statuses().length === 2);
    expect(statuses()).toEqual(['is searching', '']);
  });

  test('has a writing status while nothing of it is shown for a while, and none when it is quick', async () => {
    const statuses = () =>
      fixture.slack.calls.filter(({ method }) => method.endsWith('setStatus')).map(({ args }) => args['status']);
    const { take } = await ask(mode);
    const { live, commit } = await take();
    live.prepare();
    await until(() => statuses().length === 1);
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    live.prepare();
    await commit(await live.finish('Hello, world.'));
    expect(statuses()).toEqual([expect.stringMatching(/is writing|正在回答/), '']);
    const quick = await (await ask(mode)).take();
    quick.live.prepare();
    await quick.live.finish('Yes.');
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(statuses()).toHaveLength(2);
  });

  test('is neither posted nor edited by a worker of an old epoch, which learns that it is fenced [fence]', async () => {
    const { take } = await ask(mode);
    const frozen = await take();
    frozen.live.show({ text: 'first sampling' });
    await until(() => texts().length === 1);
    const next = await take();
    const callsBefore = fixture.slack.calls.length;
    frozen.live.show({ text: 'first sampling goes on' });
    await until(() => frozen.isFenced());
    expect(await frozen.live.finish('first sampling, whole')).toEqual([]);
    expect(fixture.slack.calls.length).toBe(callsBefore);
    await next.live.finish('second sampling');
    expect(texts()).toEqual(['second sampling']);
  });

  test('continues in the same message after a takeover and never joins two samplings [never-joined]', async () => {
    const { take } = await ask(mode);
    const dead = await take();
    dead.live.show({ text: 'One way to say it' });
    await until(() => texts().length === 1);
    const next = await take();
    next.live.show({ text: 'An' });
    await until(() => texts()[0] === 'An');
    next.live.show({ text: 'Another way' });
    await endOfTurn();
    await next.live.finish('Another way to say it');
    expect(texts()).toEqual(['Another way to say it']);
    expect(
      fixture.slack.messages[0]?.snapshots.every(
        (snapshot) => !snapshot.includes('One') || !snapshot.includes('Another'),
      ),
    ).toBe(true);
  });

  test.each(['before', 'after'] as const)(
    'is one visible message when the connection is cut %s its first post happened [looked-up-not-repeated]',
    async (when) => {
      const { take } = await ask(mode);
      fault(mode === 'stream' ? 'chat.startStream' : 'chat.postMessage', { kind: 'cut', when });
      const { live } = await take();
      live.show({ text: 'Hello' });
      await endOfTurn();
      await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
    },
    60_000,
  );

  test.each(['before', 'after'] as const)(
    'is one visible message when a worker dies during its first post (%s it happened) [looked-up-not-repeated]',
    async (when) => {
      const { take } = await ask(mode);
      fault(mode === 'stream' ? 'chat.startStream' : 'chat.postMessage', { kind: 'cut', when });
      const dead = await take();
      dead.live.show({ text: 'Hello' });
      await until(() => fixture.slack.calls.length === 1);
      const next = await take();
      await next.live.finish('The whole answer.');
      await dead.live.close();
      expect(texts()).toEqual(['The whole answer.']);
    },
    60_000,
  );

  test.each([
    ['busy', { kind: 'busy', retryAfterSec: 1 }],
    ['a 503', { kind: 'status', status: 503 }],
    ['HTML', { kind: 'html' }],
    ['a rate limit inside 200', { kind: 'error', error: 'ratelimited' }],
    ['internal_error', { kind: 'error', error: 'internal_error' }],
    ['a cut after it happened', { kind: 'cut', when: 'after' }],
  ] as [string, SlackFault][])(
    'shows its final text although the last edit meets %s [whole-texts]',
    async (_what, met) => {
      const { take } = await ask(mode);
      const { live } = await take();
      live.show({ text: 'Hello' });
      await until(() => texts().length === 1);
      fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', met);
      const records = await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
      expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'live']));
    },
    20_000,
  );

  test('reports a long wait with the whole answer, so that a crash meanwhile does not count [poison-turns]', async () => {
    const shownBefore: string[][] = [];
    const waitIdle = async (wait: () => Promise<void>) => {
      shownBefore.push(texts());
      await wait();
    };
    const { take } = await ask(mode, { waitIdle });
    const { live } = await take();
    live.show({ text: 'Hello' });
    await until(() => texts().length === 1);
    fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', { kind: 'busy', retryAfterSec: 1 });
    await live.finish('Hello, world.');
    expect(shownBefore).toEqual([['Hello']]);
    expect(texts()).toEqual(['Hello, world.']);
  });

  test('shows its final text although two calls in a row never reach the platform [whole-texts]', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    live.show({ text: 'Hello' });
    await until(() => texts().length === 1);
    const cut: SlackFault = { kind: 'cut', when: 'before' };
    fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', cut, cut);
    const records = await live.finish('Hello, world.');
    expect(texts()).toEqual(['Hello, world.']);
    expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'live']));
  });

  test.each(['token_revoked', 'invalid_auth', 'missing_scope', 'account_inactive', 'not_authed', 'token_expired'])(
    'is retried until it is shown after the token error %s',
    async (error) => {
      const { take } = await ask(mode);
      const revoked: SlackFault = { kind: 'error', error };
      for (const method of ['chat.startStream', 'chat.postMessage']) fault(method, revoked);
      const { live } = await take();
      live.show({ text: 'Hello' });
      await until(() => fixture.slack.calls.length === 1);
      const records = await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
      expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'live']));
    },
    60_000,
  );

  test('spans several messages when it is long, each with its own search key', async () => {
    const { take, platform } = await ask(mode);
    const { live } = await take();
    const text = 'A sentence of words.\n\n'.repeat(1_200);
    live.show({ text: text.slice(0, 500) });
    await until(() => texts().length === 1);
    await live.finish(text);
    expect(fixture.slack.messages.length).toBe(platform.splitReply(text).length);
    expect(texts().join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    const keys = fixture.slack.messages.map(({ metadata }) => metadata?.event_payload?.key);
    expect(new Set(keys).size).toBe(fixture.slack.messages.length);
  });

  test('has its note apart from its text', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    live.show({ text: 'Half an ans' });
    await until(() => texts().length === 1);
    await live.finish('Half an answer', { status: 'Stopped.\n<!here> *a_b* & co' });
    expect(fixture.slack.messages).toMatchObject([{ text: 'Half an answer', note: 'Stopped.\n＜!here> *a_b* & co' }]);
    expect(texts()).toEqual(['Half an answer']);
  });

  test('has its note as its text when it has no text', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    await live.finish(' \n', { status: 'Stopped.' });
    expect(fixture.slack.messages).toMatchObject([{ text: 'Stopped.', note: '' }]);
  });

  test('has its note once, below its end, when it is long', async () => {
    const { take } = await ask(mode);
    const { live } = await take();
    const text = 'A sentence of words.\n\n'.repeat(1_200);
    await live.finish(text, { status: 'Stopped.' });
    expect(texts().join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    const notes = fixture.slack.messages.map(({ note }) => note);
    expect(notes).toEqual([...Array.from({ length: notes.length - 1 }, () => ''), 'Stopped.']);
    expect(notes.length).toBeGreaterThan(1);
  });

  test.each(['before', 'after'] as const)(
    'ends the same when its last snapshot is cut %s it happened and another worker repeats it [whole-texts]',
    async (when) => {
      const { take } = await ask(mode);
      const first = await take();
      first.live.show({ text: 'Half' });
      await until(() => texts().length === 1);
      fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', { kind: 'cut', when });
      await first.live.finish('Half an answer', { status: 'Stopped.' });
      const after = fixture.slack.messages.map(({ text, note }) => ({ text, note }));
      expect(after).toEqual([{ text: 'Half an answer', note: 'Stopped.' }]);
      const second = await take();
      await second.live.finish('Half an answer', { status: 'Stopped.' });
      expect(fixture.slack.messages.map(({ text, note }) => ({ text, note }))).toEqual(after);
    },
    60_000,
  );

  test.each(['invalid_blocks', 'block_mismatch', 'msg_blocks_too_long'])(
    'has its note below the text when Slack refuses it as a block (%s)',
    async (error) => {
      const { take } = await ask(mode);
      const { live } = await take();
      live.show({ text: 'Half' });
      await until(() => texts().length === 1);
      fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', { kind: 'error', error });
      await live.finish('Half an answer', { status: 'Stopped.' });
      expect(texts()).toEqual(['Half an answer\n\nStopped.']);
      expect(fixture.slack.messages[0]).toMatchObject({ isStreaming: false });
    },
  );

  test.each([
    { kind: 'busy', retryAfterSec: 0 },
    { kind: 'error', error: 'internal_error' },
  ] as const)(
    'has no text twice if Slack carries out an update without confirming it, then answers $kind',
    async (refusal) => {
      const { take } = await ask(mode);
      const { live } = await take();
      live.show({ text: 'One' });
      await until(() => texts()[0] === 'One');
      fault(mode === 'stream' ? 'chat.appendStream' : 'chat.update', { kind: 'cut', when: 'after' });
      for (const method of ['chat.stopStream', 'chat.update']) fault(method, refusal);
      live.show({ text: 'One two' });
      await until(() => texts()[0] !== 'One');
      await live.finish('One two three');
      expect(texts()).toEqual(['One two three']);
    },
  );

  test('replaces an open invitation in the same message', async () => {
    const { take } = await ask(mode);
    const first = await take();
    await first.live.leaveOpen('Please sign in: https://parley.test/link/x');
    const next = await take();
    next.live.show({ text: 'The' });
    await endOfTurn();
    await next.live.finish('The answer');
    expect(texts()).toEqual(['The answer']);
  });

  test('property: is one message with the last text and no mix of two samplings, for random cuts, pauses and takeovers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('grow', 'die', 'cut-before', 'cut-after', 'busy'), { minLength: 1, maxLength: 8 }),
        async (steps) => {
          fixture.slack.messages.length = 0;
          const { take } = await ask(mode);
          let worker = await take();
          let sampling = 'a';
          let text = '';
          for (const step of steps) {
            if (step === 'die') {
              const died = worker;
              worker = await take();
              await died.live.close();
              sampling = String.fromCharCode(sampling.charCodeAt(0) + 1);
              text = '';
            } else if (step !== 'grow') {
              const met: SlackFault =
                step === 'busy'
                  ? { kind: 'busy', retryAfterSec: 0 }
                  : { kind: 'cut', when: step === 'cut-before' ? 'before' : 'after' };
              for (const method of [
                'chat.startStream',
                'chat.appendStream',
                'chat.stopStream',
                'chat.postMessage',
                'chat.update',
              ])
                fault(method, met);
            }
            text += sampling.repeat(3);
            worker.live.show({ text });
            await new Promise((resolve) => setTimeout(resolve, 3));
          }
          await worker.live.finish(text);
          expect(texts()).toEqual([text]);
          for (const snapshot of fixture.slack.messages[0]?.snapshots ?? [])
            expect(new Set(snapshot).size).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: tries(12) },
    );
  }, 120_000);
});

describe('a native stream', () => {
  test('is replaced by edits after 240 s, because Slack ends it after five minutes', async () => {
    const { take } = await ask('stream');
    const { live } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    advance(4 * MINUTE_MS);
    live.show({ text: 'Early and late' });
    await until(() => texts()[0] === 'Early and late');
    await live.finish('Early and late, whole');
    expect(texts()).toEqual(['Early and late, whole']);
    expect(fixture.slack.calls.map(({ method }) => method)).toEqual([
      'chat.startStream',
      'chat.stopStream',
      'chat.update',
      'chat.update',
    ]);
  });

  test('is replaced by edits when it ended early', async () => {
    const { take } = await ask('stream');
    const { live } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    fixture.slack.endStreams();
    live.show({ text: 'Early and late' });
    await endOfTurn();
    await live.finish('Early and late, whole');
    expect(texts()).toEqual(['Early and late, whole']);
  });

  test('ends the turn as stopped and keeps its text when the person stops it', async () => {
    const { take } = await ask('stream');
    const { live, abort } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    fault('chat.appendStream', { kind: 'error', error: 'stopped_by_user' });
    live.show({ text: 'Early and' });
    await until(() => abort.signal.reason === 'stopped');
    fixture.slack.endStreams();
    await live.finish('Early and');
    expect(texts()).toEqual(['Early and']);
  });

  test.each(['channel_type_not_supported', 'unknown_method', 'missing_recipient_team_id'])(
    'is replaced by a message with edits when Slack does not offer it (%s)',
    async (error) => {
      const { take } = await ask('stream');
      fault('chat.startStream', { kind: 'error', error });
      const { live } = await take();
      live.show({ text: 'Hello' });
      await endOfTurn();
      await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
      expect(fixture.slack.calls.map(({ method }) => method)).toContain('chat.postMessage');
    },
  );
});
