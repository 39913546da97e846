import type { DeliveryId } from '../domain/ids.ts';

/** What the queue room tells about itself: ids and small sets only. The admin room turns each into a log line and a counter. */
export interface QueueReport {
  /** The sweeper found conversations whose wake had got lost and woke them again. */
  wakeRepeated(event: { count: number }): void;
  /** How many partitions the sweeper could not reach in its last round (a master of a cluster is gone); told when it changes. */
  partitionsMissed(event: { count: number }): void;
  /** A worker found that a newer epoch had taken over its turn; it wrote and posted nothing more. */
  turnFenced(event: { turnId: DeliveryId }): void;
  /** A turn was found whose worker had died. */
  turnResumed(event: { turnId: DeliveryId; crashes: number }): void;
  /** A turn kept killing its workers and was ended with an apology. */
  deadLetter(event: { turnId: DeliveryId; crashes: number }): void;
  /** BullMQ gave a job of a silent worker back to the queue. */
  queueStalled(): void;
  /** This worker could not renew its jobs' locks in time. */
  lockRenewalFailed(event: { jobs: number }): void;
  /** A conversation or a wake is of a version that only a newer worker reads; it waits for one (SECURITY.md versioned-payloads). */
  newerVersionMet(event: { what: 'message' | 'wake' }): void;
  /** A conversation was found that waits for a key which this process lacks; `waiting` such conversations are known. */
  keyMissing(event: { keyId: string; waiting: number }): void;
  /** Messages of a turn do not open under their own key: they were altered, and get an apology. */
  messagesBroken(event: { turnId: DeliveryId; count: number }): void;
  /** An answer that an earlier worker had stored does not open; the model is asked again. */
  storedAnswerLost(event: { turnId: DeliveryId }): void;
  /** A failover had lost an acknowledged message; this receiver still had it and stored it again. */
  eventRecovered(event: { deliveryId: DeliveryId }): void;
  /** So many wait that one more acknowledged message is kept by its id only: a failover that loses it could only be told. */
  acceptKeptBare(): void;
  /** A failover lost an acknowledged message, and this receiver knows only that it was there. */
  eventLost(event: { deliveryId: DeliveryId }): void;
  /** More (or less) waits than before, measured by the limits of SECURITY.md back-pressure. */
  pressureChanged(event: { pressure: 'none' | 'soft' | 'hard'; waiting: number }): void;
  /** A run ended by an error that no turn turned into an outcome; the sweeper wakes the conversation again. */
  runFailed(event: { error: Error }): void;
}
