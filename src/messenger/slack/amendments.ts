import { MessengerError } from '../messenger-error.ts';
import type { MessengerSide } from '../protocol.ts';
import type { EventClient } from './event-client.ts';
import { DELETED_TEXT, type EventPayloads } from './event-payload.ts';
import { SEARCHED_MESSAGES } from './searched-messages.ts';

/**
 * A person edits a message of theirs, or deletes it: it stands so at once, and the bot is told, with Slack's repetitions.
 * @param text what it says from now on; undefined deletes it
 * @throws MessengerError `not_found`
 */
export async function amendMessage(
  { store, chatLog, bot }: Pick<MessengerSide, 'store' | 'chatLog' | 'bot'>,
  { client, payloads }: { client: EventClient; payloads: EventPayloads },
  { personId, messageId, text }: { personId: string; messageId: string; text: string | undefined },
): Promise<void> {
  const before = await store.get(messageId);
  if (before.sender !== personId) throw new MessengerError('not_found', 'No such message');
  const around = await store.list(before.conversationId, SEARCHED_MESSAGES);
  const hasAnswers = around.some(({ slack }) => slack?.threadTs !== undefined && slack.threadTs === before.slack?.ts);
  const gone = { ...before, text: DELETED_TEXT, images: [], imageIds: [] };
  const after = text === undefined ? undefined : { ...before, text };
  const event = await payloads.changed(before, after, hasAnswers);
  await chatLog.write(after ?? gone);
  if (bot.isReachable()) await client.deliver(event);
}
