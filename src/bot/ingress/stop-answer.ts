import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { GroupScope } from '../domain/conversation.ts';
import { PRESS_TEXTS } from '../i18n/feedback-texts.ts';
import { stopRunning } from '../queue/stop-running.ts';
import { NOT_STORED, type Arrival, type DeliveryOf, type Handled } from './arrival.ts';
import { notifyPresser } from './presses.ts';

export interface StopOptions {
  redis: RedisClient;
  groupScope: GroupScope;
  log: Log;
}

/** A stop is not queued behind the turn that it stops. If it cannot be marked now, the platform delivers it again. */
export async function stopAnswer(
  { redis, groupScope, log }: StopOptions,
  { platform, deadline }: Arrival,
  { stop, pressed, answer }: DeliveryOf<'stop'>,
): Promise<Handled> {
  try {
    const isStopped = await deadline.retry(() => stopRunning(redis, platform, stop, groupScope));
    if (!isStopped && pressed) notifyPresser(platform, stop.tenant, pressed, PRESS_TEXTS.nothingStopped);
    return { answer, outcome: 'event' };
  } catch (error) {
    log.warn({ error: asError(error), platform: platform.name }, 'a stop could not be recorded');
    return NOT_STORED;
  }
}
