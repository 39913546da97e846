import type { PlatformName } from '../domain/platform-name.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Whether people sign in: `off` takes the platform's user id as the account. */
export type SignInMode = 'required' | 'optional' | 'off';

/** How a tool's call ended. `refused`: by rights, arguments or limits, before anything ran. */
export type ToolOutcome = 'done' | 'refused' | 'failed' | 'timeout';

/** Who writes, in the platform's terms. */
export interface Asker {
  platform: PlatformName;
  tenant: string;
  app: string;
  chatUserId: string;
  displayName: string | undefined;
}

/** What the turn room tells about itself. */
export interface TurnReport {
  /** The policy refused a question; `person` is a pseudonym, `rule` the policy's name for what decided. */
  accessRefused(event: {
    platform: PlatformName;
    turnId: DeliveryId;
    person: string;
    because: 'person' | 'private' | 'group';
    rule: string;
  }): void;
  /** A tool's call ended; `tool` is a name of ours or `unknown`. */
  toolEnded(event: { turnId: DeliveryId; tool: string; outcome: ToolOutcome; durationMs: number }): void;
  turnEnded(event: {
    platform: PlatformName;
    turnId: DeliveryId;
    outcome: string;
    durationMs: number;
    /** How long the message waited before its turn began. */
    waitedMs: number;
  }): void;
}
