import type { DeliveryResult } from '../protocol.ts';
import type { CallbackPayloads } from './callback-payload.ts';
import type { Interactions } from './interactions.ts';

/** The way by which the platform reaches the bot: its callback (`bot-client.ts`) or a connection that it opened (`connection/`). */
export interface BotCalls {
  /** Whether the bot is there and holds the platform's keys. */
  verifyUrl(): Promise<boolean>;
  /** One delivery, with the repetitions that the way has. @throws AbortError at the messenger's stop only */
  deliver(payload: object): Promise<DeliveryResult>;
  /** One attempt. @throws AbortError at the messenger's stop only */
  callOnce(payload: object): Promise<DeliveryResult>;
  /** Whether a message that was taken in silence may be answered later. */
  readonly answersLater: boolean;
}

/** How people's messages reach the bot, and what of each person is still open there. */
export interface BotLine {
  readonly client: BotCalls;
  readonly payloads: CallbackPayloads;
  readonly interactions: Interactions;
}
