import type { MessengerSide } from '../protocol.ts';
import type { BotClient } from './bot-client.ts';
import type { Interactions } from './interactions.ts';
import type { MediaDownloads } from './media-downloads.ts';
import type { UserIds } from './user-ids.ts';

/** What the parts of the platform's side share. */
export interface PlatformSide extends MessengerSide {
  readonly client: BotClient;
  readonly interactions: Interactions;
  readonly downloads: MediaDownloads;
  readonly userIds: UserIds;
  readonly aiBotId: string;
}
