import type { DeliveryResult } from '../protocol.ts';
import type { CallbackPayloads } from './callback-payload.ts';
import type { Interactions } from './interactions.ts';

/** Transport from the platform to the bot: its callback (`bot-client.ts`) or a connection that it opened (`connection/`). */
export interface DeliveryClient {
  /** Whether the bot is reachable and has the platform's keys. */
  verifyUrl(): Promise<boolean>;
  /** Makes one delivery, with the transport's retries. @throws AbortError only when the messenger stops */
  deliver(payload: object): Promise<DeliveryResult>;
  /** Makes one attempt. @throws AbortError only when the messenger stops */
  callOnce(payload: object): Promise<DeliveryResult>;
  /** Whether a message with an empty response may be answered later. */
  readonly answersLater: boolean;
}

/** Transport of people's messages to the bot, and each person's unanswered messages. */
export interface BotTransport {
  readonly client: DeliveryClient;
  readonly payloads: CallbackPayloads;
  readonly interactions: Interactions;
}
