import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { HOUR_MS, MINUTE_MS } from '../../../src/shared/clock.ts';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../src/shared/redis/redis.ts';
import {
  conversationOf,
  deliveryIdOf,
  personIdOf,
  type ConversationRef,
} from '../../../src/bot/domain/conversation.ts';
import { messageFields } from '../../../src/bot/domain/message-record.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { conversationKeys, messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { ReplayBuffer } from '../../../src/bot/queue/replay-buffer.ts';
import { stopRunning } from '../../../src/bot/queue/stop-running.ts';
import { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import { STOP_CHANNEL } from '../../../src/bot/domain/turn-news.ts';
import { textMessage } from '../../support/messages.ts';

/** Content of all keys: hashes as objects, lists as arrays, sorted sets as objects of members and scores. */
export type Content = Record<string, string | string[] | Record<string, string>>;

/** What a step has written: new contents of keys, null for removed ones; and what was published for running turns. */
export interface RecordedStep {
  name: string;
  written: Record<string, Content[string] | null>;
  published: string[];
}

const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
const otherKeyRing = new KeyRing([Buffer.alloc(32, 8)]);
const FIXED_MS = 1_700_000_000_000;
const GROUP = { kind: 'group', id: 'team' } as const;

/** A message with a fixed id, so that every build derives the same keys from it. */
function said(name: string, person: string, overrides: Partial<InboundMessage> = {}): InboundMessage {
  const place = { chat: { kind: 'private', id: person }, sender: { userId: person } } as const;
  return textMessage(overrides.slash ? `/${overrides.slash.word}` : `text of ${name}`, {
    ...{ messageId: name, ...place },
    ...overrides,
  });
}

const command = (word: 'help' | 'stop') => ({ slash: { word, argument: '' } });
const inSlack = (chatOrder: number) =>
  ({ platform: 'slack', chatOrder, replyTarget: 'C1/1', saidAtMs: chatOrder }) as const;
const refOf = (message: InboundMessage): ConversationRef => conversationOf(message, 'member');

interface Tools {
  redis: RedisClient;
  inbox: Inbox;
  recent: ReplayBuffer;
  store: TurnStore;
}

function toolsOn(redis: RedisClient, ring = keyRing): Tools {
  const recent = new ReplayBuffer();
  const inbox = new Inbox({ redis, keyRing: ring, recent });
  return {
    redis,
    inbox,
    recent,
    store: new TurnStore({ redis, keyRing: ring, nowMs: Date.now, historyLifeMs: HOUR_MS }),
  };
}

const accept = ({ inbox }: Tools, message: InboundMessage) => inbox.accept(refOf(message), message);

/** Claims the next turn and ends it. Its first message gets a post, as a held one has with its invitation. */
async function end({ store }: Tools, conversation: ConversationRef, outcome: 'final' | 'held', heldIn?: 'group') {
  const claim = await store.begin(conversation);
  if (!claim) throw new Error('Nothing waits');
  const fields = messageFields({ 'post:0': 'handle' });
  await store.commit(claim, { outcome, heldIn, records: [{ id: claim.turnId, fields }] });
}

const alice = refOf(said('a', 'alice'));
const slack = refOf(said('s', 'sam', inSlack(1)));
const bob = refOf(said('b', 'bob'));
const carol = refOf(said('c', 'carol', { chat: GROUP }));
const dora = refOf(said('d', 'dora'));
const edith = refOf(said('e', 'edith'));

const again = async (tools: Tools, message: InboundMessage, takenAtMs: number) => {
  const key = messageKey(refOf(message).partition, deliveryIdOf(message));
  await accept(tools, message);
  const kept = tools.recent.all().whole[0];
  if (!kept) throw new Error('Nothing was kept');
  const { inbox, state } = conversationKeys(refOf(message));
  // What a failover loses: the message and its record.
  await tools.redis.rpop(inbox);
  await tools.redis.hincrby(state, 'seq', -1);
  await tools.redis.del(key);
  await tools.inbox.reaccept({ ...kept, takenAtMs });
};

/** Steps that write each form of an entry. Each begins with what the one before it has left. */
export const STEPS: Readonly<Record<string, (tools: Tools) => Promise<unknown>>> = {
  'a text': (tools) => accept(tools, said('a1', 'alice', { laterReplyHandle: 'later', saidAtMs: FIXED_MS })),
  'a second text': (tools) => accept(tools, said('a2', 'alice')),
  'a slash command': (tools) => accept(tools, said('a3', 'alice', command('help'))),
  'an edit of a waiting message': ({ inbox }) =>
    inbox.amend(alice, {
      ...{ kind: 'edited', mayArriveLater: true, imagesBefore: 0, editedAt: 5 },
      message: said('a1', 'alice', { parts: [{ type: 'text', text: 'edited' }] }),
    }),
  'a deletion of a waiting message': ({ inbox }) =>
    inbox.amend(alice, {
      kind: 'deleted',
      mayArriveLater: true,
      imagesBefore: 0,
      message: said('a2', 'alice', { parts: [] }),
    }),
  'a stop command': (tools) => accept(tools, said('a4', 'alice', command('stop'))),
  'a message stored again after a failover': (tools) => again(tools, said('a5', 'alice'), FIXED_MS),
  'a message in a chat with an order': (tools) => accept(tools, said('s3', 'sam', inSlack(3_000))),
  'a stop command in a chat with an order': (tools) =>
    accept(tools, said('s4', 'sam', { ...inSlack(4_000), ...command('stop') })),
  'an earlier message that arrives late': (tools) => accept(tools, said('s1', 'sam', inSlack(1_000))),
  'an edit that arrives before its message': ({ inbox }) =>
    inbox.amend(slack, {
      ...{ kind: 'edited', mayArriveLater: true, imagesBefore: 0, editedAt: 7 },
      message: said('s5', 'sam', { ...inSlack(5_000), parts: [{ type: 'text', text: 'edited' }] }),
    }),
  'the message of that edit': (tools) => accept(tools, said('s5', 'sam', inSlack(5_000))),
  'a first question of bob': (tools) => accept(tools, said('b1', 'bob')),
  'held for a sign-in': (tools) => end(tools, bob, 'held'),
  'a second question of bob': (tools) => accept(tools, said('b2', 'bob')),
  'released after the sign-in': ({ store }) => store.release(bob, personIdOf(said('b1', 'bob'), 'bob')),
  'questions in a group': async (tools) => {
    for (const name of ['c1', 'c2']) await accept(tools, said(name, 'carol', { chat: GROUP }));
  },
  'held in a group': (tools) => end(tools, carol, 'held', 'group'),
  'released in a group': ({ store }) => store.release(carol, personIdOf(said('c1', 'carol'), 'carol')),
  'a message under another key': ({ redis }) => accept(toolsOn(redis, otherKeyRing), said('d1', 'dora')),
  'a message behind it': (tools) => accept(tools, said('d2', 'dora', command('help'))),
  'a missing key is noted': ({ store }) => store.begin(dora).catch(() => undefined),
  'moves behind the readable message after five minutes': async ({ redis, store }) => {
    const { state } = conversationKeys(dora);
    const noted = (await redis.hget(state, 'keyless')) ?? '';
    const sinceMs = Number(noted.split(':')[2]) - 6 * MINUTE_MS;
    await redis.hset(state, 'keyless', noted.replace(/\d+$/, String(sinceMs)));
    await store.begin(dora);
  },
  'a running question': async (tools) => {
    await accept(tools, said('e1', 'edith'));
    await tools.store.begin(edith);
  },
  'a stop by the button': ({ redis }) =>
    stopRunning(
      redis,
      { name: 'wecom', tenant: 'corp', app: 'bot' },
      { stopId: 'stop', chat: { kind: 'private', id: 'edith' }, sender: { userId: 'edith' } },
      'member',
    ),
  'an edit of a running question': ({ inbox }) =>
    inbox.amend(edith, {
      ...{ kind: 'edited', mayArriveLater: true, imagesBefore: 0, editedAt: 9 },
      message: said('e1', 'edith', { parts: [{ type: 'text', text: 'edited' }] }),
    }),
};

/** All texts that wait or are held in a conversation, read turn by turn as a worker reads them. */
export async function textsWaiting(redis: RedisClient, name: keyof typeof CONVERSATIONS): Promise<string[]> {
  const { store } = toolsOn(redis);
  const texts: string[] = [];
  for (;;) {
    const claim = await store.begin(CONVERSATIONS[name]);
    if (!claim) return texts;
    const parts = claim.messages.flatMap(({ message }) => message.parts);
    texts.push(parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' + '));
    await store.commit(claim, { outcome: 'final', records: [] });
  }
}
const CONVERSATIONS = { alice, slack, bob, carol };

export async function contentOf(redis: RedisClient): Promise<Content> {
  const content: Content = {};
  for (const key of (await redis.keys('*')).sort()) {
    if (key.includes(':rate:')) continue;
    const type = await redis.type(key);
    if (type === 'hash') content[key] = sorted(await redis.hgetall(key));
    else if (type === 'list') content[key] = await redis.lrange(key, 0, -1);
    else if (type === 'zset') content[key] = sorted(pairsOf(await redis.zrange(key, '0', '-1', 'WITHSCORES')));
    else content[key] = (await redis.get(key)) ?? '';
  }
  return content;
}

/** Puts the content into Redis, as if this server had written it itself. */
export async function restore(redis: RedisClient, content: Content): Promise<void> {
  await redis.flushall();
  const [, history = ''] = /master_replid:(\w+)/.exec(await redis.info('replication')) ?? [];
  for (const [key, value] of Object.entries(content)) {
    if (typeof value === 'string') await redis.set(key, value);
    else if (Array.isArray(value)) await redis.rpush(key, ...value);
    else if (key.endsWith(':pending'))
      for (const [id, score] of Object.entries(value)) await redis.zadd(key, score, id);
    else await redis.hset(key, 'history' in value ? { ...value, history } : value);
  }
}

/** Runs one step on what Redis contains. */
export async function runStep(redis: RedisClient, url: string, name: string): Promise<RecordedStep> {
  const before = await contentOf(redis);
  const published: string[] = [];
  const listener = new Redis(url);
  listener.on('message', (_channel: string, text: string) => published.push(text));
  await listener.subscribe(STOP_CHANNEL);
  await STEPS[name]?.(toolsOn(redis));
  await listener.ping();
  listener.disconnect();
  const after = await contentOf(redis);
  const changed = Object.entries(after).filter(([key, value]) => !isDeepStrictEqual(value, before[key]));
  const removed = Object.keys(before).filter((key) => !(key in after));
  return {
    name,
    written: { ...Object.fromEntries(changed), ...Object.fromEntries(removed.map((key) => [key, null])) },
    published,
  };
}

/** The content of Redis after these steps. */
export function contentAfter(steps: readonly RecordedStep[]): Content {
  const all = Object.assign({}, ...steps.map(({ written }) => written)) as RecordedStep['written'];
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

/** Values that differ with each run: random ones, and the encrypted form of a text. */
const RANDOM_FIELDS = new Set(['claim', 'history', 'takenFrom']);
const SEALED = /s1\.[0-9a-f]{8}\.[\w-]+/g;

/**
 * The part of a step that every build must write in the same way: everything but random values and the present time. Times
 * that were stored before remain, so that a preserved time differs from a new one.
 */
export function comparable({ written, published }: RecordedStep, before: Content): unknown {
  const old = JSON.stringify(before);
  const isKept = (value: string) => old.includes(value) || value === String(FIXED_MS);
  const text = JSON.stringify({ written, published })
    .replace(SEALED, (sealed) => (isKept(sealed) ? sealed : '<sealed>'))
    .replace(/\b1[7-9]\d{11}\b/g, (time) => (isKept(time) ? time : '<now>'));
  return JSON.parse(text, (name, value: unknown) => {
    // The older build kept no trace of a turn.
    if (name === 'claims' || name === 'did') return undefined;
    const isRandom = RANDOM_FIELDS.has(name) || (name === 'epoch' && !isKept(`"epoch":"${String(value)}"`));
    return isRandom ? '<random>' : value;
  });
}

function sorted(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function pairsOf(flat: string[]): Record<string, string> {
  return Object.fromEntries(flat.flatMap((member, at) => (at % 2 === 0 ? [[member, flat[at + 1] ?? '']] : [])));
}
