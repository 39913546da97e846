import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { conversationKeys } from '../domain/partition-keys.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';
import { INBOX_ENTRY } from './inbox-entry.ts';
import { TURN_NEWS } from '../domain/turn-news.ts';

const changeScript = loadScript(import.meta.url, './scripts/change-history.lua', {
  libraries: [INBOX_ENTRY, TURN_NEWS],
  constants: { CLEARED_MARK_MS },
  keys: ['history', 'summary', 'state', 'inbox'],
  args: ['conversationId', 'mark', '...changes'],
  answer: 'number',
});

/** A finished turn as stored (encrypted) and its replacement. Without `becomes` the turn is removed. */
export interface HistoryChange {
  sealed: string;
  becomes?: string;
}

/** Changes finished turns in one step after a message was deleted or edited. Safe to repeat. */
export async function changeHistory(
  redis: RedisClient,
  conversation: ConversationRef,
  { because, changes }: { because: DeliveryId; changes: readonly HistoryChange[] },
): Promise<void> {
  if (changes.length === 0) return;
  const { history, summary, state, inbox } = conversationKeys(conversation);
  await changeScript.run(
    redis,
    { history, summary, state, inbox },
    {
      conversationId: conversation.id,
      mark: because,
      changes: changes.flatMap(({ sealed, becomes = '' }) => [sealed, becomes]),
    },
  );
}
