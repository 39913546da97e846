import type { DeliveryId } from '../domain/ids.ts';
import type { Delivery } from './platform.ts';

/**
 * State change that a connection reports.
 * `open`: deliveries arrive here; `gapMs` is how long no process of this deployment is known to have held it before, where
 * only one can.
 * `closed`: lost, and reopened automatically.
 * `replaced`: another program connected as this bot, and the connection is taken back after `restMs`; `level` counts how
 * often in a row.
 * `standby`: another process of this deployment holds it; `isReplaced` if another program has it.
 * `refused`: the platform rejects the secret; there is no further try before a restart.
 */
export type ConnectionChange =
  | { state: 'open'; gapMs?: number }
  | { state: 'closed'; reason: string }
  | { state: 'replaced'; level: number; restMs: number }
  | { state: 'standby'; isReplaced: boolean }
  | { state: 'refused'; reason: string };

/** Callbacks of a connection. */
export interface ConnectionUse {
  /**
   * Accepts a delivery like the webhook: through the same accept script, before the platform gets an answer.
   * @param read called once the platform is ready to read
   * @returns whether it is stored or irrelevant; otherwise the platform must send it again. Never rejects
   */
  take(read: () => Delivery): Promise<boolean>;
  /** Called for each change; must not throw or wait. */
  onChange(change: ConnectionChange): void;
  /**
   * Called when the platform took an answer by no method of the connection. Stores it for the person's next reply and tells
   * the operator. Safe to repeat.
   * @throws if that is not possible now
   */
  onNotShown(answer: { replyId: DeliveryId; userId: string; text: string }): Promise<void>;
  /** Called when a delivery is lost that the platform sends only once; must not throw or wait. */
  onLost(reason: string): void;
}

/** A connection that is kept open from its creation. */
export interface KeptConnection {
  /** Acknowledges what was received, waiting a few seconds at most, then closes it. */
  close(): Promise<void>;
}
