import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { personOf } from '../../audit/append-entry.ts';
import { AuditNames } from '../../audit/names.ts';
import type { AuditPerson } from '../../domain/audit-entry.ts';
import { ALL_PARTITIONS, conversationOf, type ConversationRef } from '../../domain/conversation.ts';
import { asConversationId, type ConversationId, type PersonId } from '../../domain/ids.ts';
import { chatsKey, threadsKey } from '../../domain/partition-keys.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { peopleOfAccounts } from '../../identity/links/people-of-account.ts';
import { speakerTagOfPerson } from '../../turn/prompt/turn-history.ts';

export interface DataOptions {
  redis: RedisClient;
  keyRing: KeyRing;
}

/** A chat user with a stored connection to an account, or named by the administrator. */
export interface DataPerson {
  platform: PlatformName;
  tenant: string;
  app: string;
  userId: string;
}

/** Everything by which stored data can be recognised as one account's. */
export interface DataSubject {
  account: string;
  people: readonly DataPerson[];
  ids: ReadonlySet<PersonId>;
  /** Names of the people in groups (`speakerTagOf`). */
  tags: ReadonlySet<string>;
  /** Names that counters and lists use instead of the ids, under every key of the ring. */
  pseudonyms: ReadonlySet<string>;
  /** Private conversations of the people and their threads. */
  own: ReadonlySet<ConversationId>;
  /** Conversations in which the people asked, and indexes of their threads. */
  indexes: ReadonlySet<string>;
}

/** Purposes of the pseudonyms of a person in names of keys. */
const PSEUDONYM_PURPOSES = ['media-kept', 'media-share', 'heavy-files', 'feedback', 'person-rate', 'told-limited'];

/** Chat users who are linked to the accounts, or were when the audit record last saw them. */
export async function findPeople(
  options: DataOptions,
  accounts: ReadonlySet<string>,
): Promise<(DataPerson & { account: string })[]> {
  const { redis, keyRing } = options;
  const found = new Map<PersonId, DataPerson & { account: string }>();
  for (const { platform, tenant, app, chatUserId: userId, account } of await peopleOfAccounts(
    redis,
    keyRing,
    accounts,
  )) {
    const person = { platform, tenant, app, userId };
    found.set(personOf(person), { ...person, account });
  }
  for await (const { person } of new AuditNames(redis, keyRing).all())
    if (person.account !== undefined && accounts.has(person.account))
      found.set(personOf(person), { ...asDataPerson(person), account: person.account });
  return [...found.values()];
}

export function asDataPerson({ platform, tenant, app, userId }: AuditPerson): DataPerson {
  return { platform: platform as PlatformName, tenant, app, userId };
}

/** Collects what identifies the data of an account and its people. */
export async function subjectOfPeople(
  { redis, keyRing }: DataOptions,
  account: string,
  people: readonly DataPerson[],
): Promise<DataSubject> {
  const ids = people.map(personOf);
  const own = new Set<ConversationId>();
  for (const person of people) {
    const conversation = privateConversationOf(person);
    own.add(conversation.id);
    for (const thread of await redis.zrange(threadsKey(conversation), '0', '-1')) own.add(asConversationId(thread));
  }
  const keys = ids.flatMap((id) => ALL_PARTITIONS.map((partition) => chatsKey(partition, id)));
  const chats = await Promise.all(keys.map((key) => redis.zrange(key, '0', '-1')));
  const named = PSEUDONYM_PURPOSES.flatMap((purpose) => ids.flatMap((id) => keyRing.pseudonyms(purpose, id)));
  // As `ownerOf` in turn/budgets/spending.ts names them.
  const owners = [account, ...people.map(({ platform, tenant, userId }) => `${platform}:${tenant}:${userId}`)];
  const budgets = owners.flatMap((one) => keyRing.pseudonyms('budget', `person:${one}`));
  return {
    account,
    people,
    ids: new Set(ids),
    tags: new Set(ids.map(speakerTagOfPerson)),
    pseudonyms: new Set([...named, ...budgets]),
    own,
    indexes: new Set([...own, ...chats.flat()]),
  };
}

export function privateConversationOf({ platform, tenant, app, userId }: DataPerson): ConversationRef {
  const place = { platform, tenant, app, chat: { kind: 'private' as const, id: userId }, sender: { userId } };
  return conversationOf(place, 'member');
}
