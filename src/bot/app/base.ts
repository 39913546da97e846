import { DAY_MS, type NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { connectRedis, type RedisClient } from '../../shared/redis/redis.ts';
import type { EgressPolicy } from '../../shared/web/egress-policy.ts';
import type { Config, Secrets } from '../config/config.ts';
import { PLATFORM_NAMES, type PlatformName } from '../domain/platform-name.ts';
import type { SearchLocal } from '../knowledge/create-knowledge.ts';
import type { RecentChanges } from '../identity/links/recent-changes.ts';
import type { Report } from '../metrics/report.ts';
import { PLATFORM_MODULES } from '../platforms/modules.ts';
import type { Platform } from '../platforms/platform.ts';
import type { RefusedWrite } from '../platforms/write-meaning.ts';
import { TurnStore } from '../queue/turn-store.ts';
import { WakeQueue } from '../queue/wake-queue.ts';
import { ListedModels } from './listed-models.ts';
import { createKeyRing, redisAddress } from './secrets.ts';

/** Options shared by all parts of the bot. */
export interface BotOptions {
  config: Config;
  secrets: Secrets;
  nowMs: NowMs;
  /**
   * How long a platform may still carry out a post that was given up, in milliseconds. Defaults to the platform's trait; set
   * by tests.
   */
  postSettlesWithinMs?: number;
  /** Account links recently created and removed by any part of this process. */
  recentLinks: RecentChanges;
  /** Addresses that the tool for reading pages may reach. Defaults to the public web; set by tests. */
  egress?: EgressPolicy;
  log: Log;
  report: Report;
  /** Name under which this process claims turns. Random by default. */
  workerName?: string;
  /** Set in a process that runs only the suspected turns that its parent gives it. */
  quarantine?: { searchParent: SearchLocal };
}

/** Basis of receiver and worker: one Redis connection, the keys, the platforms and the conversation store. */
export function createBase(options: BotOptions, patience: 'fail-fast' | 'wait') {
  const { config, secrets, nowMs, log, workerName } = options;
  const redis = connectRedis(redisAddress(config, secrets), patience, log, patience === 'wait' ? 'worker' : 'receiver');
  const keyRing = createKeyRing(secrets);
  const listedModels = new ListedModels({ config, secrets, log: patience === 'wait' ? log : undefined });
  const modelNames = () => listedModels.config.chat.models;
  const platforms = createPlatforms({ ...options, modelNames }, redis, keyRing);
  const historyLifeMs = config.conversation.historyTtlDays * DAY_MS;
  const { promptTokens } = config.chat;
  const store = new TurnStore({ redis, keyRing, nowMs, historyLifeMs, promptTokens, workerName });
  const wakeQueue = new WakeQueue(redis, config.queue.shards, log);
  return { redis, keyRing, platforms, store, wakeQueue, listedModels };
}

export type Base = ReturnType<typeof createBase>;

/** The platforms whose credentials are set. */
export function createPlatforms(
  { config, secrets, nowMs, modelNames, log, postSettlesWithinMs, report }: PlatformsOptions,
  redis: RedisClient,
  keyRing: KeyRing,
): ReadonlyMap<PlatformName, Platform> {
  const served = PLATFORM_NAMES.filter((name) => config.platforms.includes(name));
  return new Map(
    served.map((name) => {
      const onRefused = (code: string) => report?.platformRefused({ platform: name, code });
      const onWriteRefused = ({ write, code, meaning }: RefusedWrite) =>
        report?.writeRefused({ platform: name, method: write, code, meaning });
      const told = { onRefused, onWriteRefused };
      const { create } = PLATFORM_MODULES[name];
      const made = { config, secrets, redis, keyRing, nowMs, modelNames, log, postSettlesWithinMs };
      const platform = create({ ...made, ...told });
      return [name, withEditGap(platform, config.reply.minEditMs)];
    }),
  );
}

type PlatformsOptions = Pick<BotOptions, 'config' | 'secrets' | 'nowMs' | 'log' | 'postSettlesWithinMs'> & {
  modelNames(): readonly string[];
  report?: Pick<Report, 'platformRefused' | 'writeRefused'>;
};

function withEditGap(platform: Platform, minEditMs: number | undefined): Platform {
  if (minEditMs === undefined) return platform;
  const { ofTenant } = platform;
  return {
    ...platform,
    replyTraits: { ...platform.replyTraits, minEditGapMs: minEditMs },
    ofTenant:
      ofTenant &&
      ((tenant) => {
        const found = ofTenant(tenant);
        return found && withEditGap(found, minEditMs);
      }),
  };
}
