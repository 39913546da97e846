import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { asConversationId, asDeliveryId, type PersonId } from '../../domain/ids.ts';
import { fieldsToRead } from '../../domain/message-record.ts';
import { openTurns, type HistoryTurn } from '../../turn/conversation/history.ts';
import type { StoredTurn } from '../../turn/conversation/read-history.ts';
import { openSummary } from '../../turn/conversation/summary.ts';
import { openEntry } from '../../queue/inbox-entry.ts';
import type { InboundMessage } from '../../domain/message.ts';
import type { DataOptions, DataSubject } from './subject.ts';

const KEYS_A_STEP = 1_000;
const IN_PARTITION = /^\{p(\d+)\}:([a-z-]+):(.+)$/s;
const HEX_NAMES = /[0-9a-f]{32}/g;

/** Place of a key: its partition, and what follows the kind. */
interface KeyPlace {
  key: string;
  partition: number;
  id: string;
}

/** Stored data of an account, one key or a part of one. */
export type FoundData =
  /** Turns of the account in a list of turns. `isAll`: the list has no other turns. */
  | (KeyPlace & { kind: 'turns'; list: 'history' | 'on-hold'; turns: StoredTurn[]; isAll: boolean })
  | (KeyPlace & { kind: 'summary' })
  /** Messages that wait for an answer or for a sign-in. */
  | (KeyPlace & { kind: 'waiting'; list: 'inbox' | 'held'; messages: InboundMessage[] })
  | (KeyPlace & { kind: 'record'; state: string })
  | (KeyPlace & { kind: 'dead-letter' })
  /** Data of a private conversation: notices, texts for the next reply, marks. */
  | (KeyPlace & { kind: 'conversation'; name: string })
  | (KeyPlace & { kind: 'stop-mark' })
  | (KeyPlace & { kind: 'ratings' })
  | (KeyPlace & { kind: 'stored-media' })
  /** A key whose name contains the person or a pseudonym. */
  | { kind: 'named'; name: string; key: string };

/**
 * Finds all data of an account in Redis, except sign-in records and the audit record. Reads every key, so only for
 * administrators. A record that cannot be decrypted is found only by its name. Keys that appear meanwhile may be missed.
 */
export async function* scanData(options: DataOptions, subject: DataSubject): AsyncGenerator<FoundData> {
  for await (const key of allKeys(options.redis)) {
    const found = await judgeKey(options, subject, key);
    if (found) yield found;
  }
}

async function* allKeys(redis: RedisClient): AsyncGenerator<string> {
  const nodes: Redis[] = redis instanceof Cluster ? redis.nodes('master') : [redis];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'COUNT', KEYS_A_STEP);
      cursor = next;
      yield* keys;
    } while (cursor !== '0');
  }
}

async function judgeKey(options: DataOptions, subject: DataSubject, key: string): Promise<FoundData | undefined> {
  const [, partition, kind = '', id = ''] = IN_PARTITION.exec(key) ?? [];
  const place = { key, partition: Number(partition), id };
  if (partition !== undefined) {
    if (kind === 'history' || kind === 'on-hold') return turnsIn(options, subject, { ...place, list: kind });
    if (kind === 'inbox' || kind === 'held') return waitingIn(options, subject, { ...place, list: kind });
    if (kind === 'message') return recordOf(options, subject, place);
    const isOwn = subject.own.has(asConversationId(id));
    if (kind === 'summary') return (await isSummaryOf(options, subject, place)) ? { ...place, kind } : undefined;
    if (kind === 'state') return (await hasStopOf(options, subject, key)) ? { ...place, kind: 'stop-mark' } : undefined;
    if (kind === 'dead-letter')
      return isOf(subject, await options.redis.hget(key, 'owner')) ? { ...place, kind } : undefined;
    if (kind === 'threads' && subject.indexes.has(id)) return { kind: 'named', name: kind, key };
    if (isOwn && (kind === 'notices' || kind === 'leftovers' || kind === 'followed'))
      return { ...place, kind: 'conversation', name: kind };
  }
  const names = key.match(HEX_NAMES) ?? [];
  const isNamed = names.some((name) => subject.pseudonyms.has(name) || isOf(subject, name));
  if (!isNamed || key.startsWith('{id}:') || kind === 'audit') return undefined;
  if (kind === 'rated-by') return { ...place, kind: 'ratings' };
  if (kind === 'media-kept') return { ...place, kind: 'stored-media' };
  return { kind: 'named', name: nameOf(key, kind), key };
}

/** What a key with a person's name is, for the proof. */
function nameOf(key: string, kind: string): string {
  if (kind !== '') return kind;
  if (key.startsWith('{budget:')) return 'budgets';
  return 'limits';
}

function isOf({ ids }: DataSubject, name: string | null): boolean {
  return name !== null && ids.has(name as PersonId);
}

async function turnsIn(
  { redis, keyRing }: DataOptions,
  subject: DataSubject,
  place: KeyPlace & { list: 'history' | 'on-hold' },
): Promise<FoundData | undefined> {
  const id = asConversationId(place.id);
  const records = await redis.lrange(place.key, 0, -1);
  const isOwn = subject.own.has(id);
  const turns: StoredTurn[] = [];
  let others = 0;
  for (const sealed of records) {
    const [turn] = openTurns(keyRing, id, [sealed]);
    if (turn && isTurnOf(subject, turn, isOwn)) turns.push({ sealed, turn });
    // What cannot be decrypted in a private conversation can be of no one else.
    else if (turn || !isOwn) others += 1;
  }
  return turns.length > 0 || (isOwn && others === 0)
    ? { ...place, kind: 'turns', turns, isAll: isOwn && others === 0 }
    : undefined;
}

/** Whether a turn belongs to the account. Without an account it belongs to the chat user. */
export function isTurnOf(subject: DataSubject, { accountId, speakerTag }: HistoryTurn, isOwn: boolean): boolean {
  if (accountId !== undefined) return accountId === subject.account;
  return speakerTag === undefined ? isOwn : subject.tags.has(speakerTag);
}

async function isSummaryOf({ redis, keyRing }: DataOptions, subject: DataSubject, place: KeyPlace): Promise<boolean> {
  const id = asConversationId(place.id);
  const stored = (await redis.get(place.key)) ?? '';
  if (stored.startsWith('-')) return false;
  const summary = openSummary(keyRing, id, stored);
  return summary?.accountId === undefined ? subject.own.has(id) : summary.accountId === subject.account;
}

async function hasStopOf({ redis }: DataOptions, subject: DataSubject, key: string): Promise<boolean> {
  return isOf(subject, await redis.hget(key, 'stopOwner'));
}

async function waitingIn(
  { redis, keyRing }: DataOptions,
  subject: DataSubject,
  place: KeyPlace & { list: 'inbox' | 'held' },
): Promise<FoundData | undefined> {
  const messages: InboundMessage[] = [];
  for (const entry of await redis.lrange(place.key, 0, -1)) {
    const delivery = entry.slice(0, entry.indexOf(':'));
    const owner = await redis.hget(`{p${place.partition}}:message:${delivery}`, ...fieldsToRead('owner'));
    if (!isOf(subject, owner)) continue;
    const opened = openEntry(keyRing, entry);
    if (opened.kind === 'opened') messages.push(opened.value.message);
  }
  return messages.length > 0 ? { ...place, kind: 'waiting', messages } : undefined;
}

async function recordOf({ redis }: DataOptions, subject: DataSubject, place: KeyPlace): Promise<FoundData | undefined> {
  const [owner = null, state] = await redis.hmget(place.key, ...fieldsToRead('owner', 'state'));
  return isOf(subject, owner)
    ? { ...place, id: asDeliveryId(place.id), kind: 'record', state: state ?? '' }
    : undefined;
}
