import { SECOND_MS } from '../../base/clock.ts';
import { randomToken } from '../../base/ids.ts';
import { chatIdOf, type Conversation } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { PlatformSide } from './platform-side.ts';

/** The callback for a person's message (PLATFORM_FACTS.md wecom-callbacks). Image addresses are valid for five minutes from now. */
export function messagePayload(side: PlatformSide, question: StoredMessage): object {
  const { delivery, imageIds = [], id, sender, text } = question;
  const conversation = side.directory.conversation(question.conversationId);
  const quoted = delivery?.quoted;
  return {
    msgid: id,
    ...chatFields(side, conversation, sender),
    response_url: `${side.url()}/cgi-bin/aibot/response?response_code=${delivery?.responseCode ?? ''}`,
    ...contentFields(side, text, imageIds),
    quote: quoted && contentFields(side, quoted.text, quoted.imageIds),
  };
}

/** The callback that asks how far an answer has grown (PLATFORM_FACTS.md wecom-streams). Its msgid is new each time. */
export function pollPayload(side: PlatformSide, answer: StoredMessage): object {
  const conversation = side.directory.conversation(answer.conversationId);
  return {
    msgid: randomToken(16),
    ...chatFields(side, conversation, answer.answer?.person ?? ''),
    msgtype: 'stream',
    stream: { id: answer.answer?.streamId },
  };
}

/** The callback for an event in a person's private chat (PLATFORM_FACTS.md wecom-events). */
export function eventPayload(side: PlatformSide, personId: string, event: { eventtype: string }): object {
  return {
    msgid: randomToken(16),
    create_time: Math.floor(side.nowMs() / SECOND_MS),
    aibotid: side.aiBotId,
    chattype: 'single',
    from: { userid: side.userIds.idForBot(personId) },
    msgtype: 'event',
    event,
  };
}

function chatFields(side: PlatformSide, conversation: Conversation, personId: string): object {
  return {
    aibotid: side.aiBotId,
    ...(conversation.kind === 'group' ? { chatid: chatIdOf(conversation), chattype: 'group' } : { chattype: 'single' }),
    from: { userid: side.userIds.idForBot(personId) },
  };
}

function contentFields(side: PlatformSide, text: string, imageIds: readonly string[]): object {
  const images = imageIds.map((id) => ({ msgtype: 'image', image: { url: side.downloads.downloadUrl(id) } }));
  const [onlyImage] = images;
  if (onlyImage === undefined) return { msgtype: 'text', text: { content: text } };
  if (text === '' && images.length === 1) return onlyImage;
  const texts = text === '' ? [] : [{ msgtype: 'text', text: { content: text } }];
  return { msgtype: 'mixed', mixed: { msg_item: [...texts, ...images] } };
}
