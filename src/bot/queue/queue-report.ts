import type { DeliveryId } from '../domain/ids.ts';

/**
 * Events of the queue module, with ids and small values only. The metrics module turns each into a log line and a counter.
 */
export interface QueueReport {
  /** The sweeper found conversations whose wake was lost and woke them again. */
  wakeRepeated(event: { count: number }): void;
  /**
   * Number of partitions that the sweeper could not reach in its last round (a cluster master is down). Reported when it
   * changes.
   */
  partitionsMissed(event: { count: number }): void;
  /** A worker found that a newer epoch had taken over its turn. It wrote and posted nothing more. */
  turnFenced(event: { turnId: DeliveryId }): void;
  /** A worker took over the turn of a dead worker. */
  turnResumed(event: { turnId: DeliveryId; crashes: number }): void;
  /** A turn that crashed repeatedly now runs in a quarantine process. */
  turnQuarantined(event: { turnId: DeliveryId; crashes: number }): void;
  /** A turn repeatedly killed its workers and was ended with an apology. */
  deadLetter(event: { turnId: DeliveryId; crashes: number }): void;
  /** BullMQ returned a silent worker's job to the queue. */
  queueStalled(): void;
  /** This worker could not renew its jobs' locks in time. */
  lockRenewalFailed(event: { jobs: number }): void;
  /**
   * Only a newer worker can read the version of a conversation or wake, which waits for one (SECURITY.md
   * versioned-payloads).
   */
  newerVersionMet(event: { what: 'message' | 'wake' }): void;
  /** A conversation waits for a key that this process does not have. `waiting` is the number of such conversations known. */
  keyMissing(event: { keyId: string; waiting: number }): void;
  /** Messages of a turn cannot be decrypted with their own key: they were altered, and get an apology. */
  messagesBroken(event: { turnId: DeliveryId; count: number }): void;
  /** An answer stored by an earlier worker cannot be decrypted. The model is asked again. */
  storedAnswerLost(event: { turnId: DeliveryId }): void;
  /** A failover lost an acknowledged message, and this receiver stored it again. */
  eventRecovered(event: { deliveryId: DeliveryId }): void;
  /**
   * An acknowledged message is kept by id only, because too many messages wait. If a failover loses it, it can only be
   * reported, not restored.
   */
  messageReducedToId(): void;
  /** A failover lost an acknowledged message of which this receiver has only the id. */
  eventLost(event: { deliveryId: DeliveryId }): void;
  /** The pressure level changed (SECURITY.md back-pressure). */
  pressureChanged(event: { pressure: 'none' | 'soft' | 'hard'; waiting: number }): void;
  /** A canary question was committed, is not committed after its interval, or could not be stored. */
  canaryEnded(event: { outcome: 'committed' | 'late' | 'not-stored' }): void;
  /** This worker claimed a canary question. */
  canaryClaimed(event: { waitedMs: number }): void;
  /** A run failed with an error that no turn turned into an outcome. The sweeper wakes the conversation again. */
  runFailed(event: { error: Error }): void;
}
