import type { PlatformName } from '../domain/platform-name.ts';
import type { Cost } from '../../shared/models/cost.ts';
import type { Moderated } from './moderation/verdict.ts';
import type { AccountId, DeliveryId } from '../domain/ids.ts';

/** Whether people sign in; `off` uses the platform's user id as the account. */
export type SignInMode = 'required' | 'optional' | 'off';

/** Outcome of a tool call. `refused`: rejected by rights, arguments or limits before it ran. */
export type ToolOutcome = 'done' | 'refused' | 'failed' | 'timeout';

/** The sender in the platform's terms. */
export interface Asker {
  platform: PlatformName;
  tenant: string;
  app: string;
  chatUserId: string;
  displayName: string | undefined;
}

/** Reports of the turn module. */
export interface TurnReport {
  /** The policy refused a question; `person` is a pseudonym, `rule` names the deciding rule. */
  accessRefused(event: {
    platform: PlatformName;
    turnId: DeliveryId;
    person: string;
    because: 'person' | 'private' | 'group';
    rule: string;
  }): void;
  /** A tool call ended; `tool` is the name of a known tool or `unknown`. */
  toolEnded(event: { turnId: DeliveryId; tool: string; outcome: ToolOutcome; durationMs: number }): void;
  /** A question or an answer was blocked, or the service that checks it was away. Contains nothing of the text. */
  moderated(event: Moderated): void;
  /** A question used a model that has a price. */
  costIncurred(event: { model: string; cost: Cost }): void;
  /** The pauses were read, at the start or after a change. */
  pausesRead(event: { targets: readonly string[] }): void;
  turnEnded(event: {
    platform: PlatformName;
    turnId: DeliveryId;
    outcome: string;
    durationMs: number;
    /** How long the message waited before its turn began. */
    waitedMs: number;
    /** The account of the question, for the audit record only, which stores it encrypted; never logged. */
    accountId?: AccountId;
  }): void;
}
