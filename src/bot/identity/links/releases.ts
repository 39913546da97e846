import { HOUR_MS, type NowMs } from '../../../shared/clock.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import { asConversationId, asPersonId, type PersonId } from '../../domain/ids.ts';
import type { Release } from '../account.ts';
import { keys, type IdentityStore } from '../store.ts';

/** Longer than held messages live, so that a release outlives what it releases. Milliseconds. */
export const releaseLifeMs = HOUR_MS;

export interface Releases {
  /** Releases not yet reported as done, oldest first. @throws IdentityError `store_away` */
  pending(limit: number): Promise<Release[]>;
  /** Moves a release to the end of the queue. Its expiry does not change. @throws IdentityError `store_away` */
  again(releaseId: string): Promise<void>;
  /** Removes a release. @throws IdentityError `store_away` */
  done(releaseId: string): Promise<void>;
}

export function createReleases(store: IdentityStore, nowMs: NowMs): Releases {
  const forget = (...ids: string[]) =>
    store.withDeadline((redis) =>
      Promise.all([redis.zrem(keys.releases(), ...ids), redis.del(...ids.map((id) => keys.release(id)))]),
    );
  return {
    async pending(limit) {
      await store.withDeadline((redis) =>
        redis.zremrangebyscore(keys.releases(), '-inf', String(nowMs() - releaseLifeMs)),
      );
      const ids = await store.withDeadline((redis) => redis.zrange(keys.releases(), 0, String(limit - 1)));
      if (ids.length === 0) return [];
      const texts = await store.withDeadline((redis) => redis.mget(ids.map((id) => keys.release(id))));
      const lost = ids.filter((_, index) => texts[index] === null);
      if (lost.length > 0) await forget(...lost);
      return ids.flatMap((id, index) => {
        const text = texts[index];
        return text ? [releaseFrom(id, text)] : [];
      });
    },
    async again(releaseId) {
      await store.withDeadline((redis) => redis.zadd(keys.releases(), 'XX', nowMs(), releaseId));
    },
    async done(releaseId) {
      await forget(releaseId);
    },
  };
}

/**
 * Prefix of the ids of one link's releases. Contains the person, because versions that know only the id must preserve it.
 */
export function releaseIdPrefix(linkId: string, personId: PersonId): string {
  return `${linkId}.${personId}`;
}

/** Parses a stored release. */
export function releaseFrom(id: string, text: string): Release {
  const [, personId] = /^[^.]*\.([0-9a-f]+)-\d+$/.exec(id) ?? [];
  return {
    id,
    conversation: conversationFrom(text),
    personId: personId === undefined ? undefined : asPersonId(personId),
  };
}

/** The stored form of a conversation: `partition|id`. */
export function conversationText({ partition, id }: ConversationRef): string {
  return `${partition}|${id}`;
}

export function conversationFrom(text: string): ConversationRef {
  const bar = text.indexOf('|');
  return { partition: Number(text.slice(0, bar)), id: asConversationId(text.slice(bar + 1)) };
}
