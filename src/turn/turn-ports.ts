import type { Language } from '../base/texts.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
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

/** Where an invitation leads back to: the private conversation that the sign-in belongs to. */
export interface InvitationRequest {
  asker: Asker;
  conversation: ConversationRef;
  language: Language;
  /** True for /signin: a new ticket replaces a living one. */
  force: boolean;
}
