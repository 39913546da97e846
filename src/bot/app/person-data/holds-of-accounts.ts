import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import { personOf } from '../../audit/append-entry.ts';
import { readHolds, removeHold, storeHold, unmarkHold, type LegalHold } from '../../audit/holds.ts';
import { asConversationId, asDeliveryId } from '../../domain/ids.ts';
import { conversationKeys, feedbackKey } from '../../domain/partition-keys.ts';
import { scanData } from './scan-data.ts';
import { asDataPerson, findPeople, subjectOfPeople, type DataOptions, type DataPerson } from './subject.ts';

/** Kinds of data whose lifetime a hold ends. What lives for less than an hour is a working copy and is not held. */
const HELD_NAMES: ReadonlySet<string> = new Set(['preferences', 'usage', 'unanswered', 'chats', 'threads', 'budgets']);
const EXTENDED_KEY = '{audit}:holds-extended';

interface HoldRequest {
  account: string;
  people?: readonly DataPerson[];
  nowMs: number;
}

/** Puts an account on legal hold. Safe to repeat. @returns the number of keys that no longer expire */
export async function holdAccount(
  options: DataOptions,
  { account, people = [], nowMs }: HoldRequest,
): Promise<{ people: number; keys: number }> {
  const before = (await readHolds(options.redis, options.keyRing)).find((hold) => hold.account === account);
  const linked = await findPeople(options, new Set([account]));
  const all = [...(before?.people ?? []).map(asDataPerson), ...people, ...linked].map(asDataPerson);
  const held = [...new Map(all.map((one) => [personOf(one), one])).values()];
  const hold: LegalHold = { account, people: held, sinceMs: before?.sinceMs ?? nowMs };
  await storeHold(options.redis, options.keyRing, hold);
  return { people: held.length, keys: await changeLife(options, { account, people: held, lifeMs: undefined }) };
}

interface ReleaseRequest {
  account: string;
  /** Lifetime that the data gets again. */
  lifeMs: number;
}

/**
 * Ends a legal hold: everything gets a lifetime again, and what the people had deleted meanwhile is deleted.
 * @returns false if there was none
 */
export async function releaseAccount(options: DataOptions, { account, lifeMs }: ReleaseRequest): Promise<boolean> {
  const { redis, keyRing } = options;
  const released = await unmarkHold(redis, keyRing, account);
  if (!released) return false;
  // Keeps the hourly extension away meanwhile; other holds are extended half an hour later.
  await redis.set(EXTENDED_KEY, 'release', 'PX', HOUR_MS / 2);
  await changeLife(options, { account, people: released.people.map(asDataPerson), lifeMs });
  await removeHold(redis, keyRing, account);
  return true;
}

/** Once an hour in the whole deployment: applies the holds to new data and to chat accounts that were linked meanwhile. */
export async function extendHolds(options: DataOptions): Promise<void> {
  const holds = await readHolds(options.redis, options.keyRing);
  if (holds.length === 0 || !(await tryAcquire(options.redis, EXTENDED_KEY, HOUR_MS / 2))) return;
  for (const { account, sinceMs } of holds) {
    // It may have been released while the one before it was applied.
    const stands = (await readHolds(options.redis, options.keyRing)).some((hold) => hold.account === account);
    if (stands) await holdAccount(options, { account, nowMs: sinceMs });
  }
}

async function changeLife(
  options: DataOptions,
  { account, people, lifeMs }: { account: string; people: readonly DataPerson[]; lifeMs: number | undefined },
): Promise<number> {
  const { redis } = options;
  const subject = await subjectOfPeople(options, account, people);
  const change = async (key: string) => (lifeMs === undefined ? redis.persist(key) : redis.pexpire(key, lifeMs));
  let keys = 0;
  for await (const found of scanData(options, subject)) {
    if (found.kind === 'turns') {
      if (found.list === 'on-hold' && lifeMs !== undefined) await deleteHeld(options, account, found);
      else await change(found.key);
      await change(conversationKeys({ id: asConversationId(found.id), partition: found.partition }).summary);
    } else if (found.kind === 'ratings') {
      for (const answer of await redis.zrange(found.key, '0', '-1'))
        await change(feedbackKey(found.partition, asDeliveryId(answer)));
      await change(found.key);
    } else if (found.kind === 'named' && HELD_NAMES.has(found.name)) await change(found.key);
    else continue;
    keys += 1;
  }
  return keys;
}

/** The list may have turns of other people on hold. */
async function deleteHeld(
  { redis, keyRing }: DataOptions,
  account: string,
  { key, turns }: { key: string; turns: readonly { sealed: string }[] },
): Promise<void> {
  const isLast = (await readHolds(redis, keyRing)).every((hold) => hold.account === account);
  if (isLast) await redis.del(key);
  else for (const { sealed } of turns) await redis.lrem(key, 0, sealed);
}
