import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../src/shared/clock.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { conversationOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { messageFields } from '../../../src/bot/domain/message-record.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import type { TurnClaim, TurnCommit } from '../../../src/bot/domain/turn.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { ReplayBuffer } from '../../../src/bot/queue/replay-buffer.ts';
import { MissingKeyError } from '../../../src/bot/queue/inbox-entry.ts';
import { stopRunning } from '../../../src/bot/queue/stop-running.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { createPostLedger } from '../../../src/bot/reply/post-ledger.ts';
import { textMessage } from '../../support/messages.ts';
import { tries } from '../../support/tries.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { mirrorScripts, type Mirror } from './mirror-scripts.ts';

// The scripts of each message were rewritten to need fewer commands. Random steps run the present scripts on one database
// and the previous ones (previous-scripts/) on another. A change of what a script does is made in both.

const server = useTestRedis();
let mirror: Mirror;
beforeAll(() => {
  mirror = mirrorScripts(server.redis as Redis);
});
afterAll(() => mirror.end());

const AT_MS = 1_700_000_000_000;
const PLACES = ['private', 'group', 'ordered'] as const;
const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
const otherKeyRing = new KeyRing([Buffer.alloc(32, 8)]);

/** One step. `choice` decides its details. */
interface Step {
  kind: (typeof KINDS)[number];
  place: (typeof PLACES)[number];
  choice: number;
  name: string;
  person: string;
  word: string;
}

function messageOf({ place, name, person, word, choice }: Step): InboundMessage {
  const isInGroup = place === 'group';
  const userId = isInGroup ? person : 'alice';
  const order = choice % 9;
  const slack = {
    platform: 'slack',
    saidAtMs: AT_MS + Math.floor(order / 3),
    chatOrder: order,
    replyTarget: 'D1/1',
  } as const;
  return textMessage(word === '' ? name : word, {
    chat: isInGroup ? { kind: 'group', id: 'team' } : { kind: 'private', id: userId },
    ...{ sender: { userId }, messageId: `${place}-${name}` },
    ...(place === 'ordered' ? slack : { laterReplyHandle: order % 2 === 0 ? 'later' : undefined }),
    threadBegunBy: word === '/stop' && order % 3 === 0 ? `${place}-m0` : undefined,
  });
}

const KINDS = [
  'accept',
  'claim',
  'post',
  'commit',
  'amend',
  'again',
  'stop',
  'mark',
  'release',
  'data',
  'time',
] as const;
const WEIGHTS = [6, 5, 9, 5, 4, 1, 2, 2, 1, 2, 3];
/** A case concerns mainly one place, so that its steps meet. */
const cases = fc.constantFrom(...PLACES).chain((main) =>
  fc.array(
    fc.record({
      kind: fc.oneof(...KINDS.map((kind, at) => ({ weight: WEIGHTS[at] ?? 1, arbitrary: fc.constant(kind) }))),
      place: fc.constantFrom(main, main, main, main, main, ...PLACES),
      choice: fc.nat({ max: 999 }),
      name: fc.constantFrom('m0', 'm1', 'm2', 'm3', 'm4', 'm5'),
      person: fc.constantFrom('alice', 'alice', 'bob'),
      word: fc.constantFrom('', '', '', '', '', '/stop', '/help'),
    }),
    { minLength: 20, maxLength: 40 },
  ),
);

/** What a case has so far. */
interface World {
  nowMs: number;
  /** A process knows a history for a second. */
  knownMs: number;
  history: string;
  claims: TurnClaim[];
  recent: ReplayBuffer;
  inboxes: [Inbox, Inbox];
  workers: [TurnStore, TurnStore];
}

function newWorld(): World {
  const { redis } = mirror;
  const recent = new ReplayBuffer();
  const options = { redis, keyRing, nowMs: () => AT_MS, historyLifeMs: HOUR_MS };
  const nowMs = () => world.knownMs;
  const world: World = {
    ...{ nowMs: AT_MS, knownMs: 0, history: 'a1', claims: [], recent },
    inboxes: [new Inbox({ redis, keyRing, recent, nowMs }), new Inbox({ redis, keyRing: otherKeyRing, recent, nowMs })],
    workers: [new TurnStore({ ...options, workerName: 'one' }), new TurnStore({ ...options, workerName: 'two' })],
  };
  return world;
}

const refOf = (step: Step) => conversationOf(messageOf(step), 'group');

/** The newest claim of the place, or sometimes the one before it. */
function claimOf({ claims }: World, step: Step): TurnClaim | undefined {
  const own = claims.filter(({ conversation }) => conversation.id === refOf(step).id);
  return own.at(step.choice % 7 === 0 ? -2 : -1);
}

async function post(claim: TurnClaim, { choice }: Step): Promise<void> {
  const { conversation, epoch, turnId } = claim;
  const address = { conversation, epoch, deliveryId: turnId, place: 'place' };
  const ledger = createPostLedger({ redis: mirror.redis, ...address, doubtedAgeMs: SECOND_MS });
  const [part, handle] = [choice % 5 === 0 ? 1 : 0, `h${choice % 3}`];
  if (choice % 8 === 0) await ledger.claimStray(part, handle, 0);
  else if (choice % 8 === 1) await ledger.withdraw(part);
  else if (choice % 2 === 0) await ledger.record(part, choice % 4 === 0 ? `${handle}/more` : handle);
  else {
    const answer = choice % 3 === 0 ? 'sealed answer' : undefined;
    await ledger.begin(part, { answer, isUnsent: choice % 5 === 0, left: choice % 7 === 0 ? handle : undefined });
  }
}

function commitOf({ conversation, turnId, messages, notices, stop }: TurnClaim, step: Step): TurnCommit {
  const { choice } = step;
  /** `value` in one of `of` cases. */
  const some = <T>(of: number, value: T) => (choice % of === 1 ? value : undefined);
  const { history, summary } = conversationKeys(conversation);
  const tag = `{p${conversation.partition}}`;
  const usage = `${tag}:usage:x`;
  const ids = new Set([turnId, ...messages.map(({ deliveryId }) => deliveryId)]);
  const { id: threadId } = conversationOf(textMessage('x', { chat: { kind: 'private', id: 'thread' } }), 'group');
  return {
    outcome: some(6, 'held') ?? some(7, 'dead') ?? 'final',
    heldIn: some(12, 'group'),
    records: [...ids].map((id) => ({
      ...{ id, fields: messageFields({ 'post:0': 'h1', finished: '1' }) },
      ...{ followUp: some(8, 'sealed'), isNotified: some(4, true) },
    })),
    history: {
      append: choice % 5 === 0 ? undefined : `turn ${choice}`,
      ...{ replaceLast: some(9, true), forget: some(13, true), startsConversation: some(17, true) },
    },
    threadHistory: some(3, { conversation: { ...conversation, id: threadId }, append: 'turn' }),
    thread: some(4, { index: `${tag}:threads:x`, id: asConversationId(`thread ${choice}`) }),
    followed: some(10, conversation),
    noticesShown: some(2, notices),
    stopServed: some(3, stop.seq),
    usage: some(5, { key: usage, add: { questions: 1, tokens: choice }, lifeMs: DAY_MS }),
    preferences: some(7, { personId: personIdOf(messageOf(step), 'alice'), field: 'f', sealed: 's' }),
    erase: some(11, {
      remove: [{ list: history, record: 'turn 3' }],
      ...{ drop: [`${tag}:media:x`], fields: [{ key: usage, field: 'tokens' }], clear: [summary] },
    }),
  };
}

/** What other scripts write, and what time removes. */
async function changeData(world: World, step: Step): Promise<void> {
  const { choice } = step;
  const ref = refOf(step);
  const keys = conversationKeys(ref);
  const record = messageKey(ref.partition, claimOf(world, step)?.turnId ?? ('' as TurnClaim['turnId']));
  const entry = `${'ab'.repeat(20)}:-:${AT_MS}:1:unreadable`;
  const changes: ((redis: Redis) => Promise<unknown>)[] = [
    (redis) => redis.rpush(keys.notices, `notice ${choice}`),
    (redis) => redis.rpush(keys.leftovers, `rest ${choice}`),
    (redis) => redis.set(keys.summary, choice % 2 === 0 ? 'summary' : '-mark'),
    (redis) => redis.del(record),
    (redis) => redis.del(keys.state),
    (redis) =>
      // Without a lifetime the list would be on legal hold.
      redis
        .multi()
        .rpush(keys.history, ...Array.from({ length: 199 }, (_, at) => `turn ${at}`))
        .pexpire(keys.history, HOUR_MS)
        .exec(),
    async (redis) => {
      for (const key of await redis.keys('*:rate:*')) await redis.set(key, [20, 60, 61][choice % 3] ?? 0, 'KEEPTTL');
    },
    // A conversation with waiting messages is always pending.
    (redis) =>
      redis
        .multi()
        .rpush(keys.inbox, ...Array.from({ length: choice % 5 === 0 ? 99 : 1 }, () => entry))
        .zadd(keys.pending, 'NX', AT_MS, refOf(step).id)
        .exec(),
    (redis) => redis.hset(keys.state, { takenFrom: 'one.x', answer: 'old' }),
  ];
  await mirror.both(changes[choice % changes.length] ?? ((redis) => redis.ping()));
}

const RUN: Record<Step['kind'], (world: World, step: Step) => Promise<unknown>> = {
  accept: ({ inboxes }, step) => inboxes[step.choice % 8 === 0 ? 1 : 0].accept(refOf(step), messageOf(step)),
  claim: async ({ claims, workers }, step) => {
    const begun = await workers[step.choice % 4 === 0 ? 1 : 0].begin(refOf(step)).catch((error: unknown) => {
      if (error instanceof MissingKeyError) return undefined;
      throw error;
    });
    if (begun) claims.push(begun);
  },
  post: async (world, step) => {
    const claim = claimOf(world, step);
    if (claim) await post(claim, step);
  },
  commit: async (world, step) => {
    const claim = claimOf(world, step);
    if (claim) await world.workers[0].commit(claim, commitOf(claim, step));
  },
  amend: (world, step) => {
    const { choice } = step;
    // Often the message that is being answered.
    const answered = claimOf(world, step)?.messages[0]?.message;
    const message = (choice % 4 === 0 ? undefined : answered) ?? messageOf({ ...step, word: '' });
    const common = { mayArriveLater: choice % 4 < 2, imagesBefore: 0 };
    return world.inboxes[0].amend(
      refOf(step),
      choice % 3 === 0
        ? { kind: 'deleted', ...common, message: { ...message, parts: [] } }
        : { kind: 'edited', ...common, editedAt: choice, message },
    );
  },
  again: async ({ inboxes, recent }, { choice }) => {
    const { whole } = recent.all();
    const message = whole[choice % Math.max(1, whole.length)];
    if (message) await inboxes[0].reaccept({ ...message, takenAtMs: message.takenAtMs - (choice % 3) });
  },
  stop: (_world, step) => {
    const { platform: name, tenant, app, chat, sender } = messageOf(step);
    const shownAt = step.choice % 2 === 0 ? [`h${step.choice % 3}`] : undefined;
    const stop = { stopId: `stop ${step.choice}`, chat, sender, shownAt };
    return stopRunning(mirror.redis, { name, tenant, app }, stop, 'group');
  },
  mark: async (world, step) => {
    const claim = claimOf(world, step);
    if (!claim) return;
    const [worker] = world.workers;
    if (step.choice % 4 === 0) await worker.giveBack(claim, 0);
    else if (step.choice % 4 === 1) await worker.isolate(claim);
    else if (step.choice % 4 === 2) await worker.storeAnswer(claim, 'answer');
    else await worker.markWaiting(claim);
  },
  release: ({ workers }, step) => {
    const owner = personIdOf(messageOf(step), step.place === 'group' ? step.person : 'alice');
    return workers[0].release(refOf(step), step.choice % 2 === 0 ? owner : undefined);
  },
  data: changeData,
  time: (world, { choice }) => {
    world.nowMs += [0, 1, 10 * SECOND_MS, 10 * SECOND_MS, HOUR_MS][choice % 5] ?? 0;
    if (choice % 6 === 0) {
      world.history += 'b';
      world.knownMs += SECOND_MS;
    }
    return mirror.setWorld(world.nowMs, world.history);
  },
};

const stepOf = (kind: Step['kind'], choice: number, name = 'm0'): Step => ({
  ...{ kind, choice, name, place: 'private', person: 'alice', word: '' },
});

/** Sequences that a random one seldom contains; together they get every verdict. */
const EXAMPLES = [
  [
    // A new message and its repetition; a claim, and another worker's.
    ...[stepOf('accept', 1), stepOf('accept', 1), stepOf('claim', 1), stepOf('claim', 4)],
    // A handle that was claimed as unowned; an edit of the running message.
    ...[stepOf('post', 8), stepOf('post', 2), stepOf('amend', 5), stepOf('commit', 2)],
    // A turn that was given back, and its next claim.
    ...[stepOf('mark', 4), stepOf('post', 3), stepOf('commit', 2)],
    ...[stepOf('claim', 1), stepOf('post', 3), stepOf('commit', 2), stepOf('claim', 1)],
    // A message under another key, and one above the rate limit.
    ...[stepOf('accept', 8, 'm1'), stepOf('claim', 1), stepOf('data', 6), stepOf('accept', 1, 'm2')],
  ],
  // A record that has expired before the commit; texts for the next reply.
  [stepOf('accept', 1), stepOf('claim', 1), stepOf('data', 3), stepOf('commit', 2)],
  [stepOf('data', 1), stepOf('accept', 1), stepOf('claim', 1), stepOf('commit', 2)],
  // A press of Stop before the place of the post is stored.
  [
    stepOf('accept', 1),
    stepOf('claim', 1),
    stepOf('post', 3),
    stepOf('stop', 2),
    stepOf('post', 2),
    stepOf('commit', 2),
  ],
  // An earlier message of the same millisecond that arrives late.
  [stepOf('accept', 5, 'm1'), stepOf('accept', 4, 'm2'), stepOf('accept', 7, 'm3')].map((step) => ({
    ...step,
    place: 'ordered' as const,
  })),
];

test('the scripts of a message reply and write like their previous versions in any sequence of steps', async () => {
  const run = async (steps: readonly Step[]) => {
    await mirror.redis.flushall();
    const startMs = performance.now();
    const world = newWorld();
    await mirror.setWorld(world.nowMs, world.history);
    for (const [index, step] of steps.entries()) {
      await RUN[step.kind](world, step);
      // A comparison costs more than a step. Both lifetimes of a key were set since the case began.
      if (index % 4 === 0 || index === steps.length - 1) await mirror.compare(() => performance.now() - startMs + 2);
    }
  };
  await fc.assert(fc.asyncProperty(cases, run), {
    numRuns: tries(100),
    seed: 1,
    examples: EXAMPLES.map((steps): [Step[]] => [steps]),
  });
  const verdicts = {
    ...{ accept: ['limited', 'new', 'repeat'], claim: ['begun', 'claimed', 'lacks-key', 'nothing'] },
    ...{ commit: ['amended', 'done', 'stale'], post: ['gone', 'ok', 'stale'] },
  };
  const reached = Object.entries(verdicts).flatMap(([script, words]) => words.map((word) => `${script} ${word}`));
  expect([...mirror.seen].sort()).toEqual(reached.sort());
}, 120_000);
