import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { appendEntry } from '../audit/append-entry.ts';

/** An act of an administrator, without message text. */
export interface AdminAct {
  /** Name of the subcommand of `admin`, or of the same act on the page. */
  act: string;
  /** What it was applied to: a reference, an id or the pseudonym of an account. */
  subject?: string;
  outcome: 'done' | 'not-found' | 'refused';
  /** Pseudonym of the administrator's account; absent on the command line. */
  by?: string;
}

export type RecordAct = (act: AdminAct) => Promise<void>;

interface RecordActOptions {
  log: Log;
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Who acts on the command line; only the audit record names them. */
  by?: string;
}

/** Records every act of administrators, on the command line and on the page: one log line and one entry of the audit record. */
export function createRecordAct({ log, redis, keyRing, nowMs, by }: RecordActOptions): RecordAct {
  return async (act) => {
    log.info(act, 'an administrator acted');
    const details = { subject: act.subject, outcome: act.outcome, by: act.by ?? by };
    await appendEntry(redis, keyRing, { atMs: nowMs(), class: 'admin', event: act.act, details });
  };
}
