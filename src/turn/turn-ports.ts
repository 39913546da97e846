import type { PlatformName } from '../platforms/platform.ts';

/** Whether people sign in: `off` takes the platform's user id as the account. */
export type SignInMode = 'required' | 'optional' | 'off';

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
  turnEnded(event: {
    platform: PlatformName;
    turnId: string;
    outcome: string;
    durationMs: number;
    /** How long the message waited before its turn began. */
    waitedMs: number;
  }): void;
}
