import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { Platform } from './platform.ts';
import type { RefusedWrite } from './write-meaning.ts';

/** Dependencies of a platform. */
export interface PlatformOptions {
  config: Config;
  secrets: Secrets;
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Names of the models that people can choose at the moment. */
  modelNames(): readonly string[];
  log: Log;
  /** Overrides the trait `postSettlesWithinMs` of platforms that are pushed to. Milliseconds. */
  postSettlesWithinMs?: number;
  /** Called with the platform's code when it refuses all calls until the operator repairs the app. */
  onRefused(code: string): void;
  /** Called for each write that the platform did not carry out. */
  onWriteRefused(refused: RefusedWrite): void;
}

/** Exports of `platforms/NAME/module.ts`. */
export interface PlatformModule {
  create(parts: PlatformOptions): Platform;
}
