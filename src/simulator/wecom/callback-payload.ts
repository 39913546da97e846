import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import { chatIdOf, privateConversationId, type Conversation, type Directory } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { MediaDownloads } from './media-downloads.ts';
import type { UserIds } from './user-ids.ts';

/** Conversation of the event. Defaults to the person's private chat. */
export interface EventPlace {
  conversationId?: string;
  /** Secret of the response URL, for an event that may be answered later. */
  responseCode?: string;
}

export interface PayloadParts {
  directory: Directory;
  downloads: MediaDownloads;
  userIds: UserIds;
  aiBotId: string;
  /** Whether messages contain the response URL for one later answer. */
  withResponseUrl: boolean;
  nowMs: NowMs;
  /** The messenger's own address. */
  url(): string;
}

/** Payloads for the bot, before encryption. */
export class CallbackPayloads {
  readonly #parts: PayloadParts;

  constructor(parts: PayloadParts) {
    this.#parts = parts;
  }

  /** For a person's message (PLATFORM_FACTS.md wecom-callbacks). Image URLs are valid for five minutes. */
  message(question: StoredMessage): object {
    const parts = this.#parts;
    const { delivery, id, sender } = question;
    const conversation = parts.directory.conversation(question.conversationId);
    const quoted = delivery?.quoted;
    return {
      msgid: id,
      ...chatFields(parts, conversation, sender),
      response_url: responseUrl(parts, delivery?.responseCode ?? ''),
      ...contentFields(parts, question),
      quote: quoted && contentFields(parts, quoted),
    };
  }

  /** Polls an answer (PLATFORM_FACTS.md wecom-streams). Its msgid is new each time. */
  poll(answer: StoredMessage): object {
    const parts = this.#parts;
    const conversation = parts.directory.conversation(answer.conversationId);
    return {
      msgid: randomToken(16),
      ...chatFields(parts, conversation, answer.answer?.person ?? ''),
      msgtype: 'stream',
      stream: { id: answer.answer?.streamId },
    };
  }

  /** For an event (PLATFORM_FACTS.md wecom-events). */
  event(
    personId: string,
    event: { eventtype: string; [fields: string]: unknown },
    { conversationId, responseCode }: EventPlace = {},
  ): object {
    const parts = this.#parts;
    const place = conversationId ?? privateConversationId(personId);
    return {
      msgid: randomToken(16),
      create_time: Math.floor(parts.nowMs() / SECOND_MS),
      ...chatFields(parts, parts.directory.conversation(place), personId),
      response_url: responseCode === undefined ? undefined : responseUrl(parts, responseCode),
      msgtype: 'event',
      event,
    };
  }
}

function responseUrl({ withResponseUrl, url }: PayloadParts, code: string): string | undefined {
  return withResponseUrl ? `${url()}/cgi-bin/aibot/response?response_code=${code}` : undefined;
}

function chatFields(parts: PayloadParts, conversation: Conversation, personId: string): object {
  return {
    aibotid: parts.aiBotId,
    ...(conversation.kind === 'group' ? { chatid: chatIdOf(conversation), chattype: 'group' } : { chattype: 'single' }),
    from: { userid: parts.userIds.idForBot(personId) },
  };
}

type Content = Pick<StoredMessage, 'text' | 'imageIds' | 'fileIds'>;

function contentFields(parts: PayloadParts, { text, imageIds = [], fileIds = [] }: Content): object {
  const [fileId] = fileIds;
  // The file's name is sent with its bytes.
  if (fileId !== undefined) return { msgtype: 'file', file: parts.downloads.downloadFor(fileId) };
  const images = imageIds.map((id) => ({ msgtype: 'image', image: parts.downloads.downloadFor(id) }));
  const [onlyImage] = images;
  if (onlyImage === undefined) return { msgtype: 'text', text: { content: text } };
  if (text === '' && images.length === 1) return onlyImage;
  const texts = text === '' ? [] : [{ msgtype: 'text', text: { content: text } }];
  return { msgtype: 'mixed', mixed: { msg_item: [...texts, ...images] } };
}
