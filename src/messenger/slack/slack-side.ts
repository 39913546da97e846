import type { MessengerSide } from '../protocol.ts';
import type { EventClient } from './event-client.ts';
import type { SlackTiming } from './timing.ts';
import type { TsClock, Workspace } from './workspace.ts';

/** So far back messages of a conversation are looked for. */
export const SEARCHED_MESSAGES = 500;

/** What the parts of Slack's side share. */
export interface SlackSide extends MessengerSide {
  readonly workspace: Workspace;
  readonly client: EventClient;
  readonly clock: TsClock;
  readonly slackTiming: SlackTiming;
}
