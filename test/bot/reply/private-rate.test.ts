import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/shared/clock.ts';
import { sha256Hex } from '../../../src/shared/crypto/ids.ts';
import { inBackground } from '../../../src/shared/in-background.ts';
import { conversationKeys, followUpKeyPrefix, followUpsKey } from '../../../src/bot/domain/partition-keys.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { createPrivateRate } from '../../../src/bot/platforms/wecom/index.ts';
import { safePlainText } from '../../../src/bot/platforms/wecom/dialect.ts';
import { openFollowUp, sealFollowUp } from '../../../src/bot/reply/follow-ups/follow-up.ts';
import { openDeferredMessage } from '../../../src/bot/reply/follow-ups/deferred-messages.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { startFakeApi, type FakeApi } from '../platforms/wecom/fake-api.ts';
import { limitMembers, type MemberLimits } from '../platforms/wecom/member-limits.ts';
import { wecom } from '../platforms/wecom/support.ts';
import { agePrivateRates } from '../../support/age-private-rates.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { untilTrue } from '../../support/deployment.ts';
import { recordingLog } from '../../support/redis.ts';
import { usePulledFixture, words, type PulledTurn } from './pulled-fixture.ts';
import { tries } from '../../support/tries.ts';

// WeCom shows a member at most 30 messages of an app per minute, and drops further ones without an error.

const fixture = usePulledFixture();
const AGENT = { corpId: 'ww1', agentId: '1000002', secret: 'the-app-secret' };
/** About 100 KB: the rest of it has the maximum length, 40 messages of the app. */
const VERY_LONG = Array.from({ length: 3_600 }, (_, line) => `line ${line} of a long answer`).join('\n');

let api: FakeApi;
let member: MemberLimits;
beforeAll(async () => void (api = await startFakeApi()));
afterAll(() => api.close());
beforeEach(() => void (member = limitMembers(api, fixture.nowMs)));
afterEach(() => expect(member.dropped).toEqual([]));

/** An answer whose message is so old that only the app can deliver it. */
async function openLate(): Promise<PulledTurn> {
  const turn = await fixture.open();
  await turn.pass(HOUR_MS);
  fixture.hasApp = true;
  api.answers.set('/cgi-bin/batch/openuserid_to_userid', {
    errcode: 0,
    userid_list: [{ open_userid: 'alice', userid: 'alice' }],
  });
  const privateRate = createPrivateRate(fixture.server.redis, recordingLog().log);
  fixture.app = wecom({ agent: AGENT, addresses: { apiUrl: api.url }, nowMs: fixture.nowMs, privateRate });
  return turn;
}
const shownText = () =>
  member.shown
    .map(({ text }) => text)
    .join('')
    .replaceAll(REPLY_TEXTS.earlierAnswer.en, '');

const LATE = VERY_LONG.slice(0, 80_000);
/** Makes the follow-ups of an answer due at once, as when their worker was silent for too long. */
async function makeDue({ claim }: PulledTurn): Promise<void> {
  const due = followUpsKey(claim.conversation.partition);
  for (const id of await fixture.server.redis.zrange(due, '0', '-1')) await fixture.server.redis.zadd(due, 0, id);
}

test('delivers a long remainder exactly once despite the 30 messages/min limit', async () => {
  const turn = await openLate();
  await turn.finish(LATE);
  expect(member.shown.length).toBeGreaterThan(38);
  expect(words(shownText())).toEqual(words(LATE));
  expect(fixture.reported).toEqual(['sent']);
  expect((member.shown.at(-1)?.atMs ?? 0) - (member.shown[0]?.atMs ?? 0)).toBeLessThan(4 * MINUTE_MS);
});

test('delivers a long remainder exactly once although workers die during it [looked-up-not-repeated]', async () => {
  const turn = await openLate();
  await turn.commitOnly(LATE);
  const deadly = { before: [3, 20], behind: [7, 31] };
  const died = new Promise<never>(() => undefined);
  for (let lives = 0; fixture.reported.length === 0; lives += 1) {
    if (lives > 4) throw new Error('more workers died than were told to');
    let isDead = false;
    const dies = () => (isDead = true);
    const tries = () => fixture.writtenPrivately.length + 1;
    // One worker dies before its message leaves, the next one when the message is shown but not recorded.
    const dyingAt = lives % 2 === 0 ? deadly.before.shift() : undefined;
    const hangingAt = lives % 2 === 1 ? deadly.behind.shift() : undefined;
    const worker = fixture.worker(async () => {
      if (tries() === dyingAt) return (dies(), died);
    });
    member.onShown = () => member.shown.length === hangingAt && dies();
    await worker.deliverDue(turn.claim.conversation.partition);
    await untilTrue(() => isDead || fixture.reported.length > 0);
    await makeDue(turn);
  }
  expect(deadly).toEqual({ before: [], behind: [] });
  expect(words(shownText())).toEqual(words(LATE));
});

test('an orderly stop ends after the message in progress, and the next worker continues at once', async () => {
  const turn = await openLate();
  await turn.commitOnly(LATE);
  let closed: Promise<void> | undefined;
  const stopping = fixture.worker(async () => {
    if (fixture.tries.length === 3) closed = stopping.close();
  });
  await turn.bring(stopping);
  await closed;
  expect(member.shown).toHaveLength(3);
  await turn.bring();
  expect(fixture.writtenPrivately[3]?.text).not.toBe(fixture.writtenPrivately[0]?.text);
  expect(words(shownText())).toEqual(words(LATE));
  expect(fixture.reported).toEqual(['sent']);
});

test('puts what WeCom refuses for ten minutes before the next private reply, without a repetition', async () => {
  const turn = await openLate();
  member.onShown = () => void (member.isBusy = member.shown.length >= 10);
  await turn.finish(LATE);
  expect(fixture.reported).toEqual(['kept']);
  const { leftovers } = conversationKeys(turn.claim.conversation);
  const kept = await fixture.server.redis.lrange(leftovers, 0, -1);
  const rest = openDeferredMessage(fixture.keyRing, turn.claim.conversation, kept)?.text ?? '';
  const [heading, ...texts] = rest.split('\n\n');
  expect(heading).toBe(REPLY_TEXTS.restOfAnswer.en);
  expect(words(shownText() + texts.join('\n\n'))).toEqual(words(LATE));
});

test('does not mix two remainders for one person that two workers send at once', async () => {
  const turn = await openLate();
  await turn.commitOnly(LATE);
  const { partition } = turn.claim.conversation;
  const [found = ''] = await fixture.server.redis.zrange(followUpsKey(partition), '0', '0');
  const first = asDeliveryId(found);
  const sealed = (await fixture.server.redis.hget(followUpKeyPrefix(partition) + first, 'sealed')) ?? '';
  const other = asDeliveryId(sha256Hex('another message').slice(0, 40));
  const pieces = [VERY_LONG.replaceAll('line', 'LINE').slice(0, 20_000)];
  const opened = openFollowUp(fixture.keyRing, first, sealed);
  if (opened.kind !== 'opened') throw opened.error;
  const followUp = { ...opened.value, pieces };
  const key = followUpKeyPrefix(partition) + other;
  await turn.bring(
    fixture.worker(async () => {
      if (fixture.tries.length !== 5) return;
      await fixture.server.redis.hset(key, {
        sealed: sealFollowUp(fixture.keyRing, other, followUp),
        atMs: Date.now(),
      });
      await fixture.server.redis.zadd(followUpsKey(partition), 0, other);
      inBackground(() => fixture.worker().deliverDue(partition));
    }),
  );
  await untilTrue(() => fixture.reported.length === 2);
  const texts = member.shown.map(({ text }) => text);
  const firstOfOther = texts.findIndex((text) => text.includes('LINE'));
  expect(texts.slice(0, firstOfOther).join('')).not.toContain('LINE');
  expect(texts.slice(firstOfOther).join('')).not.toContain('line ');
  expect(words(shownText())).toEqual(words(LATE, ...pieces));
});

test('splits a text into messages that fit and all differ, in the same way each time', () => {
  const { splitPrivately } = wecom();
  const run = fc.tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 900 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      const text = runs.map(([some, times]) => some.repeat(times)).join('');
      const messages = splitPrivately?.(text) ?? [];
      expect(messages).toEqual(splitPrivately?.(text));
      expect(messages.join('')).toBe(safePlainText(text));
      expect(new Set(messages).size).toBe(messages.length);
      expect(messages.every((message) => Buffer.byteLength(message) <= 2_048)).toBe(true);
    }),
    { numRuns: tries(100), examples: [[[[`${'中'.repeat(16)} `, 863]]], [[[`${'中'.repeat(19)} `, 632]]]] },
  );
});

test('sends a person at most 30 messages in 70 s and 1,000 an hour, across processes', async () => {
  const { redis } = fixture.server;
  const processes = [createPrivateRate(redis, recordingLog().log), createPrivateRate(redis, recordingLog().log)];
  // Long enough to reach the limit of the hour: sends as much as allowed, in steps of all lengths.
  const random = seededRandom('as much as may leave');
  const leftAtMs: number[] = [];
  let atMs = 0;
  let asked = 0;
  while (atMs < HOUR_MS) {
    const count = random.integer(1, 3);
    const may = await processes[(asked += 1) % 2]?.tryAcquire('alice', count);
    if (may === true) leftAtMs.push(...Array.from({ length: count }, () => atMs));
    else {
      const stepMs = SECOND_MS * random.integer(1, random.oneIn(10) ? 90 : 12);
      atMs += stepMs;
      await agePrivateRates(redis, stepMs);
    }
  }
  const maxWithin = (windowMs: number) =>
    Math.max(...leftAtMs.map((from) => leftAtMs.filter((at) => at >= from && at < from + windowMs).length));
  expect(maxWithin(70_000)).toBeLessThanOrEqual(30);
  expect(leftAtMs.length).toBeLessThanOrEqual(1_000);
  expect(leftAtMs.length).toBeGreaterThan(500);
});

test('allows messages again within 5 s after Redis’ clock was set back', async () => {
  const { redis } = fixture.server;
  const rate = createPrivateRate(redis, recordingLog().log);
  expect(await rate.tryAcquire('bob', 12, { name: 'a text', isLast: false })).toBe(true);
  await agePrivateRates(redis, -HOUR_MS);
  expect(await rate.tryAcquire('bob', 1, { name: 'another', isLast: true })).toBe(false);
  await agePrivateRates(redis, 5_000);
  expect(await rate.tryAcquire('bob', 1, { name: 'another', isLast: true })).toBe(true);
});
