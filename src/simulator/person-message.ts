import type { Conversation } from './directory.ts';
import { imageUrl } from './media-store.ts';
import { MessengerError } from './messenger-error.ts';
import type { MessengerContext, UserMessage } from './protocol.ts';
import type { StoredMessage } from './stored-message.ts';

const MAX_IMAGES = 9;

/** Reads what a person sends: a message that has no id yet. @throws MessengerError `not_found`, `bad_request` */
export async function readSaying(
  { directory, media, nowMs }: MessengerContext,
  saying: UserMessage,
): Promise<{ conversation: Conversation; written: Omit<StoredMessage, 'id'> }> {
  const person = directory.person(saying.person);
  const conversation = directory.conversationOf(saying.person, saying.conversationId);
  const { text, imageIds, fileIds = [], clientId } = saying;
  if (text.trim() === '' && imageIds.length === 0 && fileIds.length === 0)
    throw new MessengerError('bad_request', 'The message is empty');
  if (imageIds.length > MAX_IMAGES) throw new MessengerError('bad_request', `At most ${MAX_IMAGES} images per message`);
  await Promise.all(imageIds.map((id) => media.readImage(id)));
  const files = fileIds.length === 0 ? undefined : await media.describeFiles(fileIds);
  const written: Omit<StoredMessage, 'id'> = {
    conversationId: conversation.id,
    sender: person.id,
    senderName: person.name,
    state: 'sent',
    text,
    images: imageIds.map((id) => ({ url: imageUrl(id), alt: '' })),
    imageIds: [...imageIds],
    files,
    fileIds: files && [...fileIds],
    atMs: nowMs(),
    clientId,
  };
  return { conversation, written };
}

/** A person's failed message, without its error, to be sent again. @throws MessengerError `not_found`, `bad_request` */
export async function failedMessage(
  { store }: MessengerContext,
  personId: string,
  messageId: string,
): Promise<StoredMessage> {
  const message = await store.get(messageId);
  if (message.sender !== personId) throw new MessengerError('not_found', 'No such message');
  if (message.state !== 'failed') throw new MessengerError('bad_request', 'Only a failed message can be sent again');
  const { error: _error, ...rest } = message;
  return rest;
}
