import { HOUR_MS, type NowMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { appendEntry } from '../audit/append-entry.ts';
import { MoveEntries } from '../audit/move-entries.ts';
import type { Config } from '../config/config.ts';
import type { Identity } from '../identity/identity.ts';
import type { IdentityReport } from '../identity/audit.ts';
import type { Chore } from '../queue/sweeper.ts';
import type { Base, BotOptions } from './base.ts';
import { extendHolds } from './person-data/holds-of-accounts.ts';

/**
 * Records each step of a sign-in, in the background: it must not delay the page or the turn. A process that is killed loses
 * the steps whose command Redis had not received yet.
 */
export function recordSignIns(
  { report, nowMs, log }: Pick<BotOptions, 'report' | 'nowMs' | 'log'>,
  { redis, keyRing }: Pick<Base, 'redis' | 'keyRing'>,
  identity: () => Identity,
): BotOptions['report'] {
  const event: IdentityReport['event'] = (name, labels, person) => {
    report.event(name, labels, person);
    const { platform, tenant, app, chatUserId: userId } = person;
    const atMs = nowMs();
    inBackground(
      async () => {
        const isLinked = name === 'linked' || name === 'linked-again';
        const account = isLinked ? (await identity().accountOf(person, userId))?.accountId : undefined;
        const details = { platform, reason: labels.reason };
        const who = { platform, tenant, app, userId, account };
        await appendEntry(redis, keyRing, { atMs, class: 'sign-in', event: name, person: who, details });
      },
      (error) => log.error({ error, event: name }, 'a step of a sign-in is missing in the audit record'),
    );
  };
  return { ...report, event };
}

interface ChoreOptions {
  config: Config;
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  log: Log;
}

/** Moves the audit record into files and deletes what has expired; includes new chat accounts in legal holds. */
export function createAuditChores({ config, redis, keyRing, nowMs, log }: ChoreOptions): {
  chores: Chore[];
  close(): Promise<void>;
} {
  const { isOn, directory, days } = config.audit;
  const isUsed = isOn || directory !== undefined;
  const mover = isUsed ? new MoveEntries({ redis, keyRing, directory, days, nowMs }) : undefined;
  let isFailing = false;
  let extendedMs = Number.NEGATIVE_INFINITY;
  const move = async () => {
    try {
      await mover?.run();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.error({ error: asError(error) }, 'the audit record cannot be written to AUDIT_DIR; it waits in Redis');
      isFailing = true;
    }
  };
  const extend = async () => {
    if (nowMs() - extendedMs < HOUR_MS) return;
    extendedMs = nowMs();
    await extendHolds({ redis, keyRing });
  };
  return {
    chores: mover ? [move, extend] : [extend],
    async close() {
      await mover?.close().catch(() => undefined);
    },
  };
}
