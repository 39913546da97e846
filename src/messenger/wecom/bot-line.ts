import type { BotClient } from './bot-client.ts';
import type { CallbackPayloads } from './callback-payload.ts';
import type { Interactions } from './interactions.ts';

/** How people's messages reach the bot, and what of each person is still open there. */
export interface BotLine {
  readonly client: BotClient;
  readonly payloads: CallbackPayloads;
  readonly interactions: Interactions;
}
