import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import type { RedisClient } from '../src/shared/redis/redis.ts';
import { conversationKeys, messageKey, pendingKey } from '../src/bot/domain/partition-keys.ts';
import { ALL_PARTITIONS, conversationOf, deliveryIdOf } from '../src/bot/domain/conversation.ts';
import type { Chat } from '../src/bot/domain/message.ts';
import { asConversationId, asDeliveryId, type DeliveryId } from '../src/bot/domain/ids.ts';
import type { Claim, SentEvent } from './ledger.ts';
import type { RedisInstance } from './redis-instance.ts';

/** What is left in Redis once the system is idle. */
export interface Leftovers {
  /** Conversations that still wait, and messages in their inboxes. */
  pending: number;
  inboxes: number;
}

/** Opens the testbed's own connection, bypassing all proxies. */
export function openStore({ redis }: { redis: Pick<RedisInstance, 'port' | 'urls'> }): RedisClient {
  const store = redis.urls
    ? new Cluster(redis.urls.split(','), { redisOptions: { maxRetriesPerRequest: null } })
    : new Redis({ host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null });
  // Redis dies in a run on purpose; the connection recovers by itself.
  store.on('error', () => undefined);
  return store;
}

/** For operations that scan all keys, which a cluster does not support. @throws Error if the testbed uses a cluster */
export function ofOneServer(store: RedisClient): Redis {
  if (store instanceof Redis) return store;
  throw new Error('The keys of a cluster cannot be scanned');
}

/** Waits until no conversation has pending work and all acknowledged questions are finished. @returns false on timeout */
export async function drain(store: RedisClient, isShown: () => boolean, limitMs: number): Promise<boolean> {
  const giveUpAtMs = Date.now() + limitMs;
  while (Date.now() < giveUpAtMs) {
    if (isShown() && (await leftovers(store)).pending === 0) return true;
    await pause(200);
  }
  return false;
}

export async function leftovers(store: RedisClient): Promise<Leftovers> {
  const waiting = await pendingConversations(store);
  const inboxes = await Promise.all(waiting.map(({ inbox }) => store.llen(inbox)));
  return { pending: waiting.length, inboxes: inboxes.reduce((sum, length) => sum + length, 0) };
}

/** Whether no waiting message or turn is sealed with a key, so that the key may be removed as the README describes. */
export async function isUnused(store: RedisClient, keyId: string): Promise<boolean> {
  const waiting = await pendingConversations(store);
  const sealed = await Promise.all(
    waiting.flatMap(({ inbox, state }) => [store.lrange(inbox, 0, -1), store.hvals(state)]),
  );
  return !sealed.flat().some((value) => value.includes(`s1.${keyId}.`));
}

async function pendingConversations(store: RedisClient) {
  const ids = await Promise.all(ALL_PARTITIONS.map((partition) => store.zrange(pendingKey(partition), '0', '-1')));
  return ids.flatMap((own, partition) => own.map((id) => conversationKeys({ id: asConversationId(id), partition })));
}

/** Reads the product's own record of every event. */
export async function readRecords(store: RedisClient, events: readonly SentEvent[]): Promise<void> {
  const idOf = new Map(events.map((event) => [deliveryOf(event), event.id]));
  await Promise.all(
    events.map(async (event) => {
      const { partition } = conversationOf({ ...ownerOf(event), ...placeOf(event) }, 'member');
      const [state, turn, claims] = await store.hmget(
        messageKey(partition, deliveryOf(event)),
        ...['state', 'turn', 'claims'],
      );
      if (state !== null && state !== undefined)
        event.record = { state, answeredBy: idOf.get(asDeliveryId(turn ?? '')), claims: readClaims(claims ?? '') };
    }),
  );
}

/** As `claim.lua` writes them. */
function readClaims(claims: string): Claim[] {
  return claims
    .split('|')
    .slice(1)
    .map((text) => {
      const [, atMs = '', , worker = ''] = text.split(',');
      return { atMs: Number(atMs), instance: worker.split('-')[0] ?? '' };
    });
}

/** The product's id of an event. */
export function deliveryOf(event: SentEvent): DeliveryId {
  return deliveryIdOf({ ...ownerOf(event), messageId: event.messageId });
}

/** How the product distinguishes the tenants of the testbed's two platforms. */
export function ownerOf({ platform }: Pick<SentEvent, 'platform'>) {
  return platform === 'slack' ? { platform, tenant: 'slack', app: 'bot' } : { platform, tenant: 'wecom', app: 'aibot' };
}

/** As people write on each platform: some in a group or a channel of their own. */
function placeOf({ platform, conversation }: SentEvent): { chat: Chat; sender: { userId: string } } {
  const userId = userIdOf({ platform, conversation });
  const groupId = platform === 'slack' ? `C0${conversation}` : `group${conversation}`;
  const isGroup = conversation % 8 === (platform === 'slack' ? 1 : 0);
  return { chat: isGroup ? { kind: 'group', id: groupId } : { kind: 'private', id: userId }, sender: { userId } };
}

/** A platform's id of a conversation's person. */
export function userIdOf({ platform, conversation }: Pick<SentEvent, 'platform' | 'conversation'>): string {
  return platform === 'slack' ? `U${conversation}` : `person${conversation}`;
}
