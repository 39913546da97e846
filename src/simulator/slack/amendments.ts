import { MessengerError } from '../messenger-error.ts';
import type { AmendedMessage, MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { EventClient } from './event-client.ts';
import { DELETED_TEXT, type EventPayloads } from './event-payload.ts';
import { SEARCHED_MESSAGES } from './threads.ts';

/**
 * A person edits or deletes their message: the change is shown immediately, and the bot is notified, with Slack's retries.
 * @param text the new text; undefined deletes the message
 * @throws MessengerError `not_found`, `bad_request` for an empty text
 */
export async function amendMessage(
  { store, chatLog, bot }: Pick<MessengerContext, 'store' | 'chatLog' | 'bot'>,
  { client, payloads }: { client: EventClient; payloads: EventPayloads },
  { personId, messageId, text }: { personId: string; messageId: string; text: string | undefined },
): Promise<AmendedMessage> {
  const before = await store.get(messageId);
  const isThere = before.sender === personId && before.slack?.isCommand !== true && before.isDeleted !== true;
  if (!isThere) throw new MessengerError('not_found', 'No such message');
  if (text?.trim() === '' && before.images.length === 0)
    throw new MessengerError('bad_request', 'The message is empty');
  const around = await store.list(before.conversationId, SEARCHED_MESSAGES);
  const hasAnswers = around.some(({ slack }) => slack?.threadTs !== undefined && slack.threadTs === before.slack?.ts);
  const gone: StoredMessage = { ...before, text: DELETED_TEXT, images: [], imageIds: [], isDeleted: true };
  const after: StoredMessage | undefined = text === undefined ? undefined : { ...before, text, isEdited: true };
  const event = await payloads.changed(before, after, hasAnswers);
  const message = after ?? gone;
  await chatLog.write(message);
  return { message, notification: bot.isReachable() ? client.deliver(event) : Promise.resolve() };
}
