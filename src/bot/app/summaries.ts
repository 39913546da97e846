import type { Log } from '../../shared/log.ts';
import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ChatClient } from '../model/chat-client.ts';
import { SummaryStore } from '../turn/conversation/summary-store.ts';
import { SummaryQueue } from '../queue/summary-queue.ts';
import type { WakeQueue } from '../queue/wake-queue.ts';
import type { Config } from '../config/config.ts';
import { createSummarise } from '../turn/prompt/summarise.ts';

export interface SummaryParts {
  config: Config;
  redis: RedisClient;
  keyRing: KeyRing;
  wakeQueue: Pick<WakeQueue, 'waiting'>;
  chat: Pick<ChatClient, 'stream'>;
  nowMs: NowMs;
  log: Log;
}

/** Creates the queue that summarises conversations in the background with the default model. */
export function createSummaries({ config, redis, keyRing, wakeQueue, chat, nowMs, log }: SummaryParts): SummaryQueue {
  const { model, promptTokens } = config.chat;
  const store = new SummaryStore(redis, keyRing, config.conversation.historyTtlDays * DAY_MS);
  return new SummaryQueue({
    redis,
    isUnderPressure: async () => (await wakeQueue.waiting()) >= config.queue.softWaiting,
    summarise: createSummarise({ chat, keyRing, store, model, promptTokens, nowMs, timeZone: config.timeZone }),
    log,
  });
}
