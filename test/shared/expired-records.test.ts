import { endLease, savePositions, takeLease } from '../../src/bot/audit/lease.ts';
import { messageFields } from '../../src/bot/domain/message-record.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS, HOUR_MS, monotonicMs } from '../../src/shared/clock.ts';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { conversationKeys, threadsKey } from '../../src/bot/domain/partition-keys.ts';
import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { sealTurn } from '../../src/bot/turn/conversation/history.ts';
import { MediaStore } from '../../src/bot/turn/conversation/images/media-store.ts';
import { SummaryStore } from '../../src/bot/turn/conversation/summary-store.ts';
import { usageChange } from '../../src/bot/turn/conversation/usage-store.ts';
import { engineName, shareThroughRedis } from '../../src/bot/model/capacity-share.ts';
import { createIdentity } from '../../src/bot/identity/identity.ts';
import { conversationOf, deliveryIdOf, personIdOf } from '../../src/bot/domain/conversation.ts';
import type { Platform, PostResult } from '../../src/bot/platforms/platform.ts';
import type { InboundMessage } from '../../src/bot/domain/message.ts';
import { Lease } from '../../src/bot/platforms/wecom/connection/lease.ts';
import { ReplyPlaces } from '../../src/bot/platforms/wecom/connection/reply-places.ts';
import { createPrivateRate } from '../../src/bot/platforms/wecom/index.ts';
import { Inbox } from '../../src/bot/queue/accept.ts';
import { changeHistory } from '../../src/bot/queue/change-history.ts';
import { endClaims } from '../../src/bot/queue/reclaim.ts';
import { readProcesses } from '../../src/bot/queue/process-list.ts';
import { keepWorkerPresence } from '../../src/bot/queue/worker-presence.ts';
import { countScript } from '../../src/bot/queue/person-limit.ts';
import { forgetAnswered } from '../../src/bot/queue/replay-after-failover.ts';
import { ReplayBuffer } from '../../src/bot/queue/replay-buffer.ts';
import { replayDeadLetter } from '../../src/bot/queue/dead-letters.ts';
import { settleBudgets } from '../../src/bot/queue/settle-budgets.ts';
import { stopRunning } from '../../src/bot/queue/stop-running.ts';
import { ShardRegistry } from '../../src/bot/queue/shard-registry.ts';
import { Sweeper } from '../../src/bot/queue/sweeper.ts';
import { BudgetStore } from '../../src/bot/turn/budgets/budget-store.ts';
import { SharedLimits } from '../../src/service/chat/shared-limits.ts';
import { createCountWaiting } from '../../src/bot/queue/waiting-questions.ts';
import { TurnStore } from '../../src/bot/queue/turn-store.ts';
import { type TurnClaim } from '../../src/bot/domain/turn.ts';
import { asConversationId, asDeliveryId, asPersonId } from '../../src/bot/domain/ids.ts';
import { storeFeedback } from '../../src/bot/reply/feedback/keep-feedback.ts';
import { DeferredReconciliation } from '../../src/bot/reply/deferred-reconciliation.ts';
import { FollowUps } from '../../src/bot/reply/follow-ups/follow-ups.ts';
import { createLiveReply } from '../../src/bot/reply/create-live-reply.ts';
import { storeNotice } from '../../src/bot/reply/notices.ts';
import { createPostLedger } from '../../src/bot/reply/post-ledger.ts';
import { readLiveReply } from '../../src/bot/reply/read-live-reply.ts';
import { turnOf } from '../bot/turn/conversation/turns.ts';
import { CONVERSATION, startIdentityFixture, withRules } from '../bot/identity/identity-fixture.ts';
import { TestBrowser } from '../bot/identity/test-browser.ts';
import { Browser, exchange, obtainCode, startTestService, authorizePath } from '../service/support.ts';
import { allScripts, expireBeforeScripts, type ExpiryProbe } from '../support/expire-before-scripts.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog } from '../support/redis.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

// A record may expire at any instant, even between a message's acceptance and a commit a day later. No script may restore an
// expired record without an expiry.

const keyRing = testKeyRing();
const { log } = recordingLog();
const MORTAL = 'mortal-worker';
const nowMs = () => Date.now();
const ran = new Set<string>();
const server = useTestRedis();
let redis: RedisClient;
let probe: ExpiryProbe;

/** Records without an expiry by design: they are removed when the waiting messages are answered. */
function mayStay(key: string, all: ReadonlySet<string>): boolean {
  const [, state] = /^(\{p\d+\}:)state:(.*)$/.exec(key) ? [key, key.replace(':state:', ':inbox:')] : [];
  return (
    /^\{p\d+\}:(pending$|follow-ups$|inbox:)|^\{audit\}:(epochs|positions)$/.test(key) ||
    (state !== undefined && all.has(state))
  );
}

async function expectNothingLeft(): Promise<void> {
  await probe.settled();
  for (const name of probe.ran) ran.add(name);
  probe.stop();
  redis.disconnect();
  expect([...probe.left]).toEqual([]);
  expect([...probe.errors]).toEqual([]);
}

describe('an expired record', () => {
  beforeEach(async () => {
    await server.redis.flushall();
    redis = connectRedis({ urls: [server.url] }, 'wait', log, 'probed');
    probe = expireBeforeScripts(redis, server.url, mayStay);
  });

  test('is not restored without expiry by any script of a turn', async () => {
    let aheadMs = 0;
    const recent = new ReplayBuffer({ nowMs: () => performance.now() + aheadMs });
    const inbox = new Inbox({ redis, keyRing, recent });
    const store = new TurnStore({ redis, keyRing, nowMs, historyLifeMs: HOUR_MS, workerName: MORTAL });
    const fates: PostResult[] = ['busy', 'refused'];
    const { writePrivately: _app, ...withoutApp } = createFakePlatform();
    const platform: Platform = { ...withoutApp, replyLater: async () => fates.shift() ?? 'sent' };
    const accept = async (message: InboundMessage) => {
      await inbox.accept(conversationOf(message, 'member'), message);
      return message;
    };
    const begin = async (message: InboundMessage): Promise<TurnClaim> => {
      const claim = await store.begin(conversationOf(message, 'member'));
      if (!claim) throw new Error('nothing waits');
      return claim;
    };
    const poll = (message: InboundMessage) => {
      const { partition } = conversationOf(message, 'member');
      const personId = personIdOf(message, message.sender.userId);
      return readLiveReply({ redis, keyRing, platform }, { partition, deliveryId: deliveryIdOf(message), personId });
    };

    // Two merged questions that are shown, stopped, noted, given back, claimed again, and answered with every optional part
    // of a commit.
    const older = await accept(textMessage('one'));
    expect(await createCountWaiting(redis)()).toMatchObject({ waiting: 1 });
    const newest = await accept(textMessage('two', { laterReplyHandle: 'https://example.test/later' }));
    const alice = conversationOf(newest, 'member');
    const keys = conversationKeys(alice);
    await storeNotice(redis, keyRing, { conversation: alice, text: 'a notice' });
    const withoutKey = new TurnStore({ redis, keyRing: testKeyRing(), nowMs, historyLifeMs: HOUR_MS });
    await expect(withoutKey.begin(alice)).rejects.toMatchObject({ code: 'key_missing' });
    const claim = await begin(newest);
    const deliveryId = deliveryIdOf(newest);
    const place = { redis, conversation: alice, epoch: claim.epoch, deliveryId, place: 'thread', doubtedAgeMs: 0 };
    const live = createLiveReply({
      deps: {
        ...{
          redis,
          keyRing,
          nowMs,
          log,
          reconciliation: new DeferredReconciliation({ redis, keyRing, platforms: new Map(), log }),
        },
        report: {
          firstTextShown: () => undefined,
          answerKept: () => undefined,
          answerNotShown: () => undefined,
          replyHandedOver: () => undefined,
        },
      },
      claim: { ...claim, wasHandedOver: true, wasBegun: false },
      controls: {
        ...{ signal: AbortSignal.any([]), stopped: () => undefined, fenced: () => undefined },
        ...{ storeAnswer: async () => true, sealAnswer: () => '', isClaimHeld: () => true },
        waitIdle: (wait) => wait(),
      },
      ...{ deliveryId, platform, language: 'en', mergedIds: [deliveryIdOf(older)] },
      ...{ laterReplyHandle: 'handle', replyTarget: undefined },
      asker: () => ({ userId: 'alice', privateChat: alice }),
    });
    live.show({ text: 'Hello' });
    for (const message of [newest, older]) await poll(message);
    const ledger = createPostLedger(place);
    await ledger.begin(0, { answer: 'sealed' });
    await ledger.withdraw(0);
    await ledger.claimStray(0, 'stray', 0);
    await ledger.begin(0);
    await ledger.record(0, 'handle');
    await stopRunning(redis, platform, { ...newest, stopId: 'stop' }, 'member');
    for (const [kind, mayArriveLater] of [
      ['edited', true],
      ['deleted', false],
    ] as const) {
      await inbox.amend(alice, { kind, message: older, editedAt: 1, mayArriveLater, imagesBefore: 1 });
      await inbox.amend(alice, {
        kind,
        message: textMessage('not yet come'),
        editedAt: 1,
        mayArriveLater: true,
        imagesBefore: 0,
      });
    }
    await changeHistory(redis, alice, { because: deliveryId, changes: [{ sealed: 'a turn' }] });
    await store.storeAnswer(claim, 'whole');
    await store.markWaiting(claim);
    await store.markRunning(claim);
    await store.renew(claim);
    await store.retractCrash(claim);
    await endClaims(redis, alice.partition, [MORTAL]);
    await store.giveBack(claim, 0);
    const shards = new ShardRegistry(redis, 1);
    await shards.removeUnusedShards({ ...(await shards.report('a receiver')), known: 2 });
    await store.retractCrash(claim);
    await noteWorkers(redis);
    await readProcesses(redis);
    const report = { wakeRepeated: () => undefined, partitionsMissed: () => undefined } as never;
    await new Sweeper({ redis, wakeQueue: { wake: async () => undefined }, report, log: {} as never }).sweep(0);
    const again = await begin(newest);
    const personId = personIdOf(newest, 'alice');
    const usage = usageChange(
      { partition: alice.partition, personId, nowMs: nowMs(), timeZone: 'UTC' },
      { questions: 1, tokens: 5 },
    );
    const turn = sealTurn(keyRing, alice.id, turnOf({ turnId: again.turnId }));
    await store.commit(again, {
      outcome: 'final',
      records: await live.finish('Hello, Alice.'),
      history: { append: turn },
      threadHistory: { conversation: { ...alice, id: asConversationId('thread') }, append: turn },
      erase: { remove: [], drop: [], clear: [conversationKeys({ ...alice, id: asConversationId('other') }).summary] },
      thread: { index: threadsKey(alice), id: asConversationId('thread') },
      ...{
        noticesShown: again.notices,
        stopServed: 1,
        usage,
        preferences: { personId, field: 'chat', sealed: 'sealed' },
      },
    });

    // A follow-up of an answer: one failed try, after which the next private reply begins with it.
    const followUps = new FollowUps({
      ...{ redis, keyRing, log, report: { replyHandedOver: () => undefined } },
      platforms: new Map([['wecom', platform]]),
      pause: async () => undefined,
    });
    await followUps.deliverDue(alice.partition);
    await followUps.settle();
    expect(await redis.llen(keys.leftovers)).toBe(1);

    // The check of an answer that is no longer the shown one.
    const pushed = new Map([['wecom', { ...platform, push: {} as never }]] as const);
    const checks = new DeferredReconciliation({ redis, keyRing, platforms: pushed, log });
    const part = { platform: 'wecom', conversation: alice, deliveryId, part: 0, target: 'target', left: [] } as const;
    const snapshot = { content: 'Hello, Alice.', finished: true };
    await checks.later(0, { ...part, work: { kind: 'restore', handle: 'another', snapshot } });
    await checks.runDue();

    // A step for clusters, which needs no cluster for its writes.
    const messages = '{person:alice}:rate:minute';
    for (const id of ['one', 'two']) await countScript.run(redis, { messages }, { deliveryId: id, minuteMs: 60_000 });
    const image = { partition: alice.partition, personId, isSignedIn: false, mediaId: 'm' };
    const media = new MediaStore(redis, keyRing);
    await media.storeImage(image, { dataUrl: 'data:' });
    for (const file of ['f1', 'f2', 'f3']) await media.heavyFiles.note(asPersonId('p'), file);
    const rate = createPrivateRate(redis, log);
    for (const isLast of [false, true]) expect(await rate.tryAcquire('alice', 1, { name: 'rest', isLast })).toBe(true);

    const summaries = new SummaryStore(redis, keyRing, HOUR_MS);
    const startedFrom = (await summaries.begin(alice, '')) ?? '';
    const summary = { version: 1, text: 'notes', chatKind: 'private', coveredToMs: 2 } as const;
    expect(await summaries.write(alice, summary, { startedFrom, newestCovered: turn }, usage)).toBe(true);
    await summaries.begin(alice, (await redis.get(keys.summary)) ?? '');

    // A question that is held, released and answered; one in a group with a stop word; one restored after a failover; one
    // too many.
    const held = await accept(textMessage('held'));
    await store.commit(await begin(held), {
      outcome: 'held',
      heldIn: 'group',
      records: [{ id: deliveryIdOf(held), fields: messageFields({ content: 'x' }) }],
    });
    expect((await store.heldFor(alice, personId, HOUR_MS)).inGroup).toBe(1);
    expect((await store.release(alice)).count).toBe(1);
    await store.commit(await begin(held), {
      outcome: 'final',
      records: [{ id: deliveryIdOf(held), fields: messageFields({ content: 'x' }) }],
    });
    const deadly = await accept(textMessage('deadly'));
    const dying = await begin(deadly);
    await store.commit(dying, { outcome: 'dead', records: [] });
    expect(await replayDeadLetter({ redis, keyRing }, dying.turnId)).toBe('replayed');
    await store.commit(await begin(deadly), { outcome: 'final', records: [] });
    const chat = { kind: 'group', id: 'C1' } as const;
    const opener = await accept(textMessage('in a group', { chat }));
    await accept(
      textMessage('/stop', { chat: { ...chat, threadId: opener.messageId }, threadBegunBy: opener.messageId }),
    );
    for (const entry of recent.all().whole.slice(-2)) await inbox.reaccept(entry);
    aheadMs = HOUR_MS;
    await forgetAnswered({ redis, recent });
    const strict = new Inbox({ redis, keyRing, limits: { personPerMinute: 1 } });
    expect(await strict.accept(alice, textMessage('too much'))).toMatchObject({ result: 'limited' });
    await expectNothingLeft();
  }, 60_000);

  test('is not restored without expiry by any script of a sign-in', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const fixture = await startIdentityFixture(redis, {
      signIn: { proof: ['same-browser'], keepTokens: 'both' },
      identity: { keyRing: new KeyRing([old]) },
      platform: { displayNameOf: async () => 'Alice' },
    });
    const { identity, owner, clock } = fixture;
    const rotated = createIdentity({ ...fixture.options, keyRing: new KeyRing([next, old]) });
    await fixture.walk(fixture.browser('20001', 'alice'), await fixture.link('alice'));
    clock.nowMs += DAY_MS;
    await identity.recheckDue(10);
    await identity.freshAccessToken(owner, 'alice');
    await rotated.sweepKeys();
    await rotated.accountOf(owner, 'alice');
    await new TestBrowser().get(`${fixture.url}/link/${'x'.repeat(43)}`);
    // A forwarded link that another member opens.
    await fixture.walk(fixture.browser('20003', 'mallory'), await fixture.link('bob')).catch(() => undefined);
    await probe.settled();
    await identity.unlink(owner, 'alice', 'm1');
    // As after a failover.
    await identity.bringBack(identity.recall());

    const typed = createIdentity(withRules(fixture.options, { proof: ['typed-code'] }));
    fixture.serve(typed);
    const codeOn = async (chatUserId: string) => {
      // Calls wait for free copies of the records; identity gives its calls 1.5 s.
      await probe.settled();
      const asked = { ...owner, chatUserId, conversation: CONVERSATION, language: 'en', mints: 'always' } as const;
      const invitation = await typed.inviteToSignIn(asked);
      const page = await fixture.walk(fixture.browser(chatUserId), invitation.kind === 'invited' ? invitation.url : '');
      return /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page.text)?.[0] ?? 'none';
    };
    const say = async (
      chatUserId: string,
      text: string,
      messageId: string,
      chatKind: 'private' | 'group' = 'private',
    ) => {
      await probe.settled();
      return typed.redeemTypedCode({ owner, chatUserId, chatKind, text, messageId });
    };
    const code = await codeOn('carol');
    await say('carol', `${code.slice(0, 8)}${code.endsWith('A') ? 'B' : 'A'}`, 'm2');
    expect(await say('carol', code, 'm3')).toMatchObject({ kind: 'linked' });
    expect(await say('dave', await codeOn('erin'), 'm4')).toMatchObject({ kind: 'not-awaited' });
    await codeOn('erin');
    expect(await say('erin', 'A1B2-C3D4', 'm5', 'group')).toMatchObject({ kind: 'seen-in-group' });
    await fixture.close();
    await expectNothingLeft();
  }, 60_000);

  test('is not restored without expiry by any script of the service', async () => {
    const service = await startTestService(redis);
    const browser = new Browser(service.url);
    await browser.submit(await browser.get(authorizePath()), { username: 'zhangwei', password: 'guess' });
    const code = await obtainCode(service);
    await exchange(service, code);
    await exchange(service, code);
    const limits = new SharedLimits({ redis, keyRing, limits: { requestsPer10Sec: 2, maxConcurrent: 2 }, nowMs });
    const end = await limits.begin('sk-test');
    await limits.renewSlots();
    end();
    limits.close();
    await service.close();
    await expectNothingLeft();
  }, 60_000);

  test('is not restored without expiry by any script of the budgets', async () => {
    const store = new BudgetStore({ redis, keyRing, nowMs, timeZone: 'UTC' });
    const use = { questions: 1, tokens: 90, images: 1 };
    const limits = { questionsPerDay: 2, tokensPerMonth: 100 };
    for (const turnId of ['a', 'b', 'c'].map(asDeliveryId)) {
      const place = store.placeOf({ of: 'person', code: 'alice' }, limits, turnId);
      await store.reserve([place], turnId, use);
      await settleBudgets(redis, turnId, [store.chargeOf(place, use)]);
    }
    await store.topUp({ of: 'person', code: 'alice' }, 'tokensPerMonth', 5);
    await expectNothingLeft();
  });

  test("is not restored without expiry by any script of WeCom's connection", async () => {
    const places = new ReplyPlaces(redis, keyRing, 'bot');
    const lease = await new Lease(redis, places.leaseKey).tryAcquire();
    const number = lease?.number ?? 0;
    const place = {
      ...({ version: 1, reqId: 'r', streamId: 's', userId: 'alice' } as const),
      chat: { kind: 'private', id: 'alice' } as const,
    };
    expect(await places.open('a', place, true)).toBe('open');
    expect(await places.open('a', place, false)).toBe('known');
    expect(await places.change('a', { ...place, whole: 'push' }, number)).toBe(true);
    expect(await places.beginPush('a', number)).toBe('push');
    await places.markPushSent('a', number);
    await places.end('a', 'sent');
    expect(await places.open('a', place, false)).toBe('sent');
    expect(await places.change('a', place, number)).toBe(false);
    await lease?.release();
    await expectNothingLeft();
  }, 60_000);

  test('is not restored without expiry by any script of the audit record', async () => {
    const epoch = await takeLease(redis, 'one');
    expect(await takeLease(redis, 'two', true)).toBeUndefined();
    expect(await savePositions(redis, epoch ?? 0, { 'question:file': 'a file' })).toBe(true);
    await endLease(redis, 'one');
    await expectNothingLeft();
  }, 60_000);

  test('is not restored without expiry by any script of answer ratings', async () => {
    const options = { redis, keyRing, lifeMs: 60_000, keepsWords: true };
    const answer = asDeliveryId('a'.repeat(40));
    const rating = {
      partition: 1,
      answer,
      platform: 'wecom',
      personId: asPersonId('p'),
      reasons: [],
      words: 'w',
    } as const;
    expect(await storeFeedback(options, { ...rating, verdict: 'good' })).toBe('new');
    expect(await storeFeedback(options, { ...rating, verdict: 'good' })).toBe('same');
    expect(await storeFeedback(options, { ...rating, verdict: 'bad', words: undefined })).toBe('changed');
    expect(await storeFeedback(options, { ...rating, verdict: 'bad', reasons: ['wrong'], words: '' })).toBe('detailed');
    expect(await storeFeedback(options, { ...rating, verdict: 'withdrawn' })).toBe('withdrawn');
    expect(await storeFeedback(options, { ...rating, verdict: 'withdrawn' })).toBe('same');
    await expectNothingLeft();
  }, 60_000);
});

/** The check for missing workers, and a share of an engine's capacity. */
async function noteWorkers(redis: RedisClient): Promise<void> {
  const workload = () => ({ runningTurns: 0, maxTurns: 1, isDraining: false });
  const presence = { redis, workerName: 'alive', workload, nowMs: monotonicMs };
  const end = keepWorkerPresence({ ...presence, reclaim: async () => undefined });
  await sleep(100);
  await end();
  const share = shareThroughRedis(redis);
  const report = { held: 0, running: 1, top: 1, waiting: 1, waitedMs: 10, passed: 1, refused: 1, pauseMs: 1_000 };
  await share.report(engineName('http://127.0.0.1/v1', 'model'), report);
  share.close();
}

test('every script of the program ran in these tests', () => {
  expect([...ran].sort()).toEqual([...allScripts().keys()].sort());
});
