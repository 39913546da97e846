import type { CapacityShare } from '../model/capacity-share.ts';
import { createChatClient, type ChatClient } from '../model/chat-client.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { BotOptions } from './base.ts';

/** Creates the client of the chat service. @param share how workers share the concurrency of its engines */
export function createChat(
  { config, secrets, nowMs, log, report }: BotOptions,
  catalog: ModelCatalog,
  share: CapacityShare,
): ChatClient {
  const { baseUrl } = config.chat;
  return createChatClient({ baseUrl, apiKey: secrets.chatApiKey ?? '', catalog, share, nowMs, log, report });
}
