import { inBackground } from '../../shared/in-background.ts';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { detectFailover } from '../../shared/redis/failover-detector.ts';
import type { Inbox } from './accept.ts';
import type { QueueReport } from './queue-report.ts';
import type { AcceptedId, AcceptedMessage, ReplayBuffer } from './replay-buffer.ts';
import type { WakeQueue } from './wake-queue.ts';

const answeredScript = loadScript(import.meta.url, './scripts/answered.lua', {
  keys: ['...records'],
  answer: 'numbers',
});
const NOT_FORGOTTEN = 'the answered messages could not be read after a failover';
const AT_ONCE = 200;
const FORGET_EVERY_MS = MINUTE_MS;

export interface ReplayOptions {
  /** The inbox's connection. */
  redis: RedisClient;
  inbox: Inbox;
  recent: ReplayBuffer;
  wakeQueue: WakeQueue;
  log: Log;
  report: QueueReport;
  /** Milliseconds between two checks for answered messages, which are dropped. Defaults to one minute. */
  forgetEveryMs?: number;
}

interface ReplayBatch {
  whole: AcceptedMessage[];
  bare: AcceptedId[];
}

/**
 * After a failover, stores recently acknowledged messages that the new master never received, and reports those that it
 * cannot store (RELIABILITY.md failover). Accepting is idempotent, so that messages that were not lost stay unchanged.
 * @returns a function that stops watching
 */
export function replayAfterFailover(options: ReplayOptions): () => void {
  const { redis, recent, log } = options;
  const unconfirmed = new Set<DeliveryId>();
  const memory = {
    recall: () => recent.all(),
    bringBack: (offer: ReplayBatch) => replayBatch(options, offer, unconfirmed),
  };
  const watch = detectFailover({ redis, memory, what: 'messages', log });
  // Not while a replay is due: a missing record may be lost rather than answered.
  const forgetting = setInterval(() => {
    if (!watch.isDue)
      inBackground(
        () => forgetAnswered(options),
        (error) => log.debug({ error }, NOT_FORGOTTEN),
      );
  }, options.forgetEveryMs ?? FORGET_EVERY_MS).unref();
  return () => {
    watch.end();
    clearInterval(forgetting);
  };
}

/**
 * @param unconfirmed - messages of earlier attempts that Redis may have stored without this process learning of it; if they
 *   are found, they count as recovered
 * @throws the connection's error; the next attempt skips what is already stored
 */
async function replayBatch(
  { redis, inbox, wakeQueue, report }: ReplayOptions,
  { whole, bare }: ReplayBatch,
  unconfirmed: Set<DeliveryId>,
): Promise<void> {
  for (const some of inPortions(byConversation(whole))) {
    await Promise.all(
      some.map(async (messages) => {
        // Storing one message after another keeps their order, even when the script must be loaded first.
        for (const message of messages) {
          const { deliveryId, conversation } = message;
          const isUnconfirmed = unconfirmed.has(deliveryId);
          unconfirmed.add(deliveryId);
          if ((await inbox.reaccept(message)) === 'new' || isUnconfirmed) {
            await wakeQueue.wake(conversation);
            report.eventRecovered({ deliveryId });
          }
          unconfirmed.delete(deliveryId);
        }
      }),
    );
  }
  for (const some of inPortions(bare)) {
    const found = await Promise.all(some.map(({ recordKey }) => redis.exists(recordKey)));
    for (const [index, { deliveryId }] of some.entries()) if (found[index] === 0) report.eventLost({ deliveryId });
  }
}

/** Drops answered messages, which need no replay. Checks many per call, because thousands may wait. */
export async function forgetAnswered({ redis, recent }: Pick<ReplayOptions, 'redis' | 'recent'>): Promise<void> {
  for (const [partition, deliveryIds] of recent.olderByPartition()) {
    for (const some of inPortions(deliveryIds)) {
      const records = some.map((deliveryId) => messageKey(partition, deliveryId));
      const places = await answeredScript.run(redis, { records }, {});
      recent.forgetAnswered(places.flatMap((place) => some[place - 1] ?? []));
    }
  }
}

function byConversation(messages: AcceptedMessage[]): AcceptedMessage[][] {
  const found = new Map<string, AcceptedMessage[]>();
  for (const message of messages) {
    const { id } = message.conversation;
    found.set(id, [...(found.get(id) ?? []), message]);
  }
  return [...found.values()];
}

function inPortions<Item>(items: Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, index) =>
    items.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
  );
}
