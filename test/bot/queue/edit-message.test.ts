import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR_MS } from '../../../src/shared/clock.ts';
import { conversationOf, deliveryIdOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundAmendment, InboundMessage } from '../../../src/bot/domain/message.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import type { TurnClaim } from '../../../src/bot/domain/turn.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { changeHistory } from '../../../src/bot/queue/change-history.ts';
import { StopListener } from '../../../src/bot/queue/stop-listener.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { STOP_CHANNEL, type TurnNews } from '../../../src/bot/domain/turn-news.ts';
import { untilTrue } from '../../support/deployment.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { tries } from '../../support/tries.ts';

const server = useTestRedis();
const keyRing = testKeyRing();
let inbox: Inbox;
let store: TurnStore;
/** A store whose `begin` takes over the claims of other workers. */
let taker: TurnStore;

beforeEach(async () => {
  await server.redis.flushall();
  const options = { redis: server.redis, keyRing, nowMs: () => 1_800_000_000_000, historyLifeMs: HOUR_MS };
  inbox = new Inbox({ redis: server.redis, keyRing });
  store = new TurnStore(options);
  taker = new DyingWorkersStore(options);
});

const placeOf = (message: InboundMessage) => conversationOf(message, 'member');
const accept = (message: InboundMessage) => inbox.accept(placeOf(message), message);
const textsOf = (claim: TurnClaim | undefined) =>
  claim?.messages.flatMap(({ message }) => message.parts.map((part) => (part.type === 'text' ? part.text : ''))) ?? [];
const historyOf = (message: InboundMessage) => server.redis.lrange(conversationKeys(placeOf(message)).history, 0, -1);

function amend(message: InboundMessage, change: { editedAt: number; text: string } | 'deleted') {
  const isDeleted = change === 'deleted';
  const parts = isDeleted ? [] : [{ type: 'text' as const, text: change.text }];
  const amendment: InboundAmendment = {
    kind: isDeleted ? 'deleted' : 'edited',
    message: { ...message, parts, slash: undefined },
    editedAt: isDeleted ? 0 : change.editedAt,
    mayArriveLater: true,
    imagesBefore: 0,
  };
  return inbox.amend(placeOf(message), amendment);
}

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('accept' as const) },
    { weight: 1, arbitrary: fc.constant('delete' as const) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 3, arbitrary: fc.constantFrom('begin' as const, 'take over' as const, 'renew' as const) },
    { weight: 3, arbitrary: fc.constant('commit' as const) },
  ),
  { minLength: 2, maxLength: 14 },
);

test('a message gets at most one answer, to its current text, in any order of edits and retries, and none when deleted before its turn [taken-back]', async () => {
  let user = 0;
  const run = async (order: readonly (string | number)[]) => {
    user += 1;
    const message = textMessage('text 0', { sender: { userId: `u${user}` } });
    let [isAccepted, isDeleted, hasBegun, answers, newest] = [false, false, false, 0, 0];
    let claim: TurnClaim | undefined;
    const begin = async (by: TurnStore) => {
      const taken = await by.begin(placeOf(message));
      if (!taken) return;
      // A message that was deleted before its turn does not start a turn.
      expect(isDeleted && !hasBegun).toBe(false);
      if (!isDeleted) expect(textsOf(taken)).toEqual([`text ${newest}`]);
      else expect(textsOf(taken)).toEqual([]);
      hasBegun = true;
      claim = taken;
    };
    const commit = async () => {
      if (!claim) return;
      const texts = textsOf(claim);
      const by = claim;
      claim = undefined;
      const ended = await store.commit(by, {
        outcome: 'final',
        records: [],
        history: { append: `turn of ${texts.join()}` },
      });
      if (ended === 'stale') return;
      if (ended === 'amended') {
        await store.giveBack(by, 0);
        return;
      }
      answers += 1;
      if (isDeleted) expect(await historyOf(message)).toEqual([]);
      else expect(texts).toEqual([`text ${newest}`]);
    };
    for (const step of order) {
      if (step === 'accept') isAccepted = (await accept(message)).result !== 'limited';
      else if (step === 'delete') {
        await amend(message, 'deleted');
        isDeleted = true;
      } else if (typeof step === 'number') {
        await amend(message, { editedAt: step, text: `text ${step}` });
        // An edit changes neither an answered nor a deleted message.
        if (answers === 0 && !isDeleted) newest = Math.max(newest, step);
      } else if (step === 'begin') await begin(store);
      else if (step === 'take over') await begin(taker);
      else if (step === 'renew') {
        const renewed = claim && (await store.renew(claim));
        if (claim && renewed && !isDeleted) expect(renewed.wasAmended).toBe(textsOf(claim)[0] !== `text ${newest}`);
      } else await commit();
    }
    for (let left = 0; left < 3; left += 1) {
      await begin(taker);
      await commit();
    }
    expect(answers).toBe(isAccepted && (hasBegun || !isDeleted) ? 1 : 0);
  };
  await fc.assert(fc.asyncProperty(steps, run), { numRuns: tries(150) });
}, 60_000);

describe('messages merged into one turn [taken-back]', () => {
  const pair = async () => {
    const [one, two] = [textMessage('BANANAS'), textMessage('CHERRIES')];
    await accept(one);
    await accept(two);
    return [one, two] as const;
  };

  test.each([
    { which: 0, left: 'CHERRIES' },
    { which: 1, left: 'BANANAS' },
  ] as const)(
    'lose the text of one that is deleted while they are answered: $left is left',
    async ({ which, left }) => {
      const both = await pair();
      const before = await store.begin(placeOf(both[0]));
      expect(textsOf(before)).toHaveLength(2);
      expect((await amend(both[which], 'deleted')).where).toBe('running');
      expect(await store.commit(before as TurnClaim, { outcome: 'final', records: [] })).toBe('amended');
      await store.giveBack(before as TurnClaim, 0);
      const after = await store.begin(placeOf(both[0]));
      expect([after?.turnId, textsOf(after), after?.wasStopped]).toEqual([before?.turnId, [left], false]);
    },
  );

  test('stop the turn when all of them are deleted', async () => {
    const both = await pair();
    await store.begin(placeOf(both[0]));
    for (const message of both) await amend(message, 'deleted');
    const after = await taker.begin(placeOf(both[0]));
    expect([textsOf(after), after?.wasStopped]).toEqual([[], true]);
  });
});

describe('a stored answer [taken-back]', () => {
  test('is not used for a question that was edited after it was stored', async () => {
    const message = textMessage('BANANAS');
    await accept(message);
    const before = await store.begin(placeOf(message));
    await store.storeAnswer(before as TurnClaim, 'about bananas');
    expect((await taker.begin(placeOf(message)))?.storedAnswer).toBe('about bananas');
    await amend(message, { editedAt: 1, text: 'CHERRIES' });
    expect((await taker.begin(placeOf(message)))?.storedAnswer).toBeUndefined();
  });

  test('that is already posted is found by the worker that answers again', async () => {
    const message = textMessage('BANANAS');
    await accept(message);
    const claim = await store.begin(placeOf(message));
    await amend(message, { editedAt: 1, text: 'CHERRIES' });
    const fields = ['finished', '1', 'post:0', 'C1/17.5'] as never;
    await store.commit(claim as TurnClaim, { outcome: 'final', records: [{ id: deliveryIdOf(message), fields }] });
    const record = messageKey(placeOf(message).partition, deliveryIdOf(message));
    expect(await server.redis.hmget(record, 'post:0', 'finished', 'state')).toEqual(['C1/17.5', null, 'accepted']);
  });
});

test('a message held for sign-in can be deleted or edited while it is held [taken-back]', async () => {
  const [one, two] = [textMessage('/help BANANAS'), textMessage('CHERRIES')];
  const held = conversationKeys(placeOf(one)).held;
  for (const message of [one, two]) {
    await accept(message);
    await store.commit((await store.begin(placeOf(message))) as TurnClaim, { outcome: 'held', records: [] });
  }
  expect(await server.redis.llen(held)).toBe(2);
  expect((await amend(one, 'deleted')).where).toBe('held');
  expect((await amend(two, { editedAt: 1, text: 'APPLES' })).where).toBe('held');
  await store.release(placeOf(one));
  expect(textsOf(await store.begin(placeOf(one)))).toEqual(['APPLES']);
});

test('the worker that answers a message is notified of its edit and its deletion at once [taken-back]', async () => {
  const message = textMessage('BANANAS');
  await accept(message);
  await store.begin(placeOf(message));
  const listener = new StopListener(server.redis);
  const heard: TurnNews[] = [];
  listener.listen(placeOf(message), (news) => heard.push(news));
  await untilTrue(async () => (await server.redis.pubsub('NUMSUB', STOP_CHANNEL))[1] === 1);
  await amend(message, { editedAt: 1, text: 'CHERRIES' });
  await amend(message, 'deleted');
  await untilTrue(() => heard.length === 2);
  listener.close();
  expect(heard).toEqual(['amended', expect.objectContaining({ deliveryId: deliveryIdOf(message) })]);
});

test('a person cannot delete the message of another person [taken-back]', async () => {
  const message = textMessage('BANANAS');
  await accept(message);
  const other = { ...message, sender: { userId: 'bob' } };
  const gone = { ...other, parts: [] };
  const amendment: InboundAmendment = { kind: 'deleted', message: gone, mayArriveLater: true, imagesBefore: 0 };
  expect((await inbox.amend(placeOf(message), amendment)).where).toBe('nothing');
  expect(textsOf(await store.begin(placeOf(message)))).toEqual(['BANANAS']);
});

test('a turn of /retry starts again when the question that it repeats is erased [taken-back]', async () => {
  const message = textMessage('/retry');
  await accept(message);
  const claim = (await store.begin(placeOf(message))) as TurnClaim;
  await server.redis.rpush(conversationKeys(placeOf(message)).history, 'a turn', 'another');
  await changeHistory(server.redis, placeOf(message), {
    because: deliveryIdOf(message),
    changes: [{ sealed: 'a turn' }],
  });
  expect(await store.commit(claim, { outcome: 'final', records: [] })).toBe('amended');
  expect(await historyOf(message)).toEqual(['another']);
});

test('the record of an edit or deletion expires when its message does not arrive [taken-back]', async () => {
  const [one, two] = [textMessage('BANANAS'), textMessage('CHERRIES')];
  await amend(one, 'deleted');
  await amend(two, { editedAt: 1, text: 'APPLES' });
  for (const message of [one, two]) {
    const lifeMs = await server.redis.pttl(messageKey(placeOf(message).partition, deliveryIdOf(message)));
    expect(lifeMs).toBeGreaterThan(0);
    expect(lifeMs).toBeLessThanOrEqual(15 * 60_000);
  }
});
