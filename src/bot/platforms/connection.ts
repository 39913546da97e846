import type { DeliveryId } from '../domain/ids.ts';
import type { Delivery } from './platform.ts';

/**
 * What a connection reports about itself. `open`: deliveries arrive here; `gapMs` is how long no process of this deployment is known
 * to have held it before, where only one can. `closed`: lost, and opened again by itself. `replaced`: another program connected as
 * this bot, and the connection is taken back after `restMs`; `level` counts how often in a row. `standby`: another process of this
 * deployment holds it; `isReplaced` where another program has it. `refused`: the platform does not accept the secret, and there is no
 * further try before a restart.
 */
export type ConnectionChange =
  | { state: 'open'; gapMs?: number }
  | { state: 'closed'; reason: string }
  | { state: 'replaced'; level: number; restMs: number }
  | { state: 'standby'; isReplaced: boolean }
  | { state: 'refused'; reason: string };

/** What a connection is kept with. */
export interface ConnectionUse {
  /**
   * Takes a delivery in as the webhook would: through the same accept script, before the platform is told anything.
   * @param read called once the platform is ready to read. @returns whether it is stored, or of no interest; otherwise the platform
   * is to send it again. Never rejects
   */
  take(read: () => Delivery): Promise<boolean>;
  /** Told of each change; must not throw or wait. */
  onChange(change: ConnectionChange): void;
  /**
   * The platform took an answer by no way of the connection. Keeps it for the person's next reply and tells the operator. Safe to repeat.
   * @throws where that is not possible now
   */
  onNotShown(answer: { replyId: DeliveryId; userId: string; text: string }): Promise<void>;
  /** A delivery is lost that the platform sends once only; must not throw or wait. */
  onLost(reason: string): void;
}

/** A connection that is kept open from its making on. */
export interface KeptConnection {
  /** Closes it, after what came over it is acknowledged, or seconds at most. */
  close(): Promise<void>;
}
