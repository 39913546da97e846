import { SECOND_MS } from '../../shared/clock.ts';
import { privateConversationId, type Conversation } from '../directory.ts';
import { FILE_ENDINGS } from '../media-store.ts';
import type { MessengerContext } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import { writtenText } from './written-text.ts';
import {
  APP_ID,
  BOT_USER_ID,
  channelIdOf,
  eventIdOf,
  fileIdOf,
  memberIdOf,
  TEAM_ID,
  type TsClock,
} from './workspace.ts';

/** Placeholder for a deleted message. */
export const DELETED_TEXT = 'This message was deleted.';

export interface TypedCommand {
  text: string;
  responseUrl: string;
  triggerId: string;
}

export interface PayloadParts extends Pick<MessengerContext, 'directory' | 'bot' | 'media' | 'nowMs' | 'url'> {
  clock: TsClock;
}

/** Payloads for the bot. */
export class EventPayloads {
  readonly #parts: PayloadParts;

  constructor(parts: PayloadParts) {
    this.#parts = parts;
  }

  /**
   * The events for a person's message (PLATFORM_FACTS.md slack-messages): `message`, and in a channel also an `app_mention`
   * with the same `ts` if the bot is mentioned. Identical for each call.
   */
  async message(message: StoredMessage): Promise<object[]> {
    const parts = this.#parts;
    const conversation = parts.directory.conversation(message.conversationId);
    const text = writtenText(message.text, parts);
    const files = await filesOf(parts, message);
    const hasFiles = files.length > 0;
    const said = {
      channel: channelIdOf(conversation),
      user: memberIdOf(message.sender),
      text,
      ts: message.slack?.ts,
      team: TEAM_ID,
      event_ts: message.slack?.ts,
      client_msg_id: message.id,
      thread_ts: message.slack?.threadTs,
      files: hasFiles ? files : undefined,
      upload: hasFiles ? false : undefined,
    };
    const subtype = hasFiles ? 'file_share' : undefined;
    const isMention = conversation.kind === 'group' && text.includes(`<@${BOT_USER_ID}>`);
    return [
      envelope(message, 'message', { type: 'message', subtype, ...said, channel_type: channelType(conversation) }),
      ...(isMention ? [envelope(message, 'app_mention', { type: 'app_mention', ...said })] : []),
    ];
  }

  /**
   * The event for an edited (`after`) or deleted message. A deleted message with replies remains as a message of Slack's
   * own.
   */
  async changed(before: StoredMessage, after: StoredMessage | undefined, hasAnswers: boolean): Promise<object> {
    const parts = this.#parts;
    const conversation = parts.directory.conversation(before.conversationId);
    const eventTs = parts.clock.next();
    const nested = async (message: StoredMessage) => {
      const files = await filesOf(parts, message);
      return {
        type: 'message',
        user: memberIdOf(message.sender),
        text: writtenText(message.text, parts),
        ts: message.slack?.ts,
        team: TEAM_ID,
        thread_ts: message.slack?.threadTs ?? (hasAnswers ? message.slack?.ts : undefined),
        files: files.length > 0 ? files : undefined,
      };
    };
    const previous = await nested(before);
    const place = { channel: channelIdOf(conversation), channel_type: channelType(conversation), hidden: true };
    const base = { type: 'message', ...place, ts: eventTs, event_ts: eventTs, previous_message: previous };
    const { ts } = previous;
    const stone = {
      type: 'message',
      subtype: 'tombstone',
      user: 'USLACKBOT',
      text: DELETED_TEXT,
      ts,
      thread_ts: ts,
      hidden: true,
    };
    const edited = after && { ...(await nested(after)), edited: { user: previous.user, ts: eventTs } };
    const event =
      edited || hasAnswers
        ? { ...base, subtype: 'message_changed', message: edited ?? stone }
        : { ...base, subtype: 'message_deleted', deleted_ts: ts };
    return envelope({ id: eventTs, atMs: parts.nowMs() }, 'message_changed', event);
  }

  /** A person opens the app's private chat. */
  homeOpened(personId: string): object {
    const ts = this.#parts.clock.next();
    const event = {
      type: 'app_home_opened',
      tab: 'messages',
      user: memberIdOf(personId),
      channel: this.#privateChannelId(personId),
      event_ts: ts,
    };
    return envelope({ id: ts, atMs: this.#parts.nowMs() }, 'app_home_opened', event);
  }

  /** A person opens the app's private chat for the first time: the thread of Slack's assistant view that begins there. */
  assistantStarted(personId: string, threadTs: string): object {
    const { clock, nowMs } = this.#parts;
    const thread = {
      user_id: memberIdOf(personId),
      context: {},
      channel_id: this.#privateChannelId(personId),
      thread_ts: threadTs,
    };
    const event = { type: 'assistant_thread_started', assistant_thread: thread, event_ts: clock.next() };
    return envelope({ id: threadTs, atMs: nowMs() }, 'assistant_thread_started', event);
  }

  /** A person presses Slack's own stop button below a growing answer (PLATFORM_FACTS.md slack-assistant). */
  sessionStopped(personId: string, { id, conversationId, slack }: StoredMessage): object {
    const parts = this.#parts;
    const event = {
      type: 'agent_session_stopped',
      channel: channelIdOf(parts.directory.conversation(conversationId)),
      user: memberIdOf(personId),
      thread_ts: slack?.threadTs,
      streaming_message_ts: [slack?.ts],
      event_ts: parts.clock.next(),
    };
    return envelope({ id, atMs: parts.nowMs() }, 'agent_session_stopped', event);
  }

  /** An app command that a person typed, as a form (PLATFORM_FACTS.md slack-deliveries). */
  commandForm(
    { sender, conversationId }: StoredMessage,
    { text, responseUrl, triggerId }: TypedCommand,
  ): Record<string, string> {
    const conversation = this.#parts.directory.conversation(conversationId);
    return {
      team_id: TEAM_ID,
      team_domain: 'parley-local',
      api_app_id: APP_ID,
      channel_id: channelIdOf(conversation),
      channel_name: conversation.kind === 'private' ? 'directmessage' : conversation.name,
      user_id: memberIdOf(sender),
      user_name: sender,
      command: '/parley',
      text: writtenText(text, this.#parts),
      response_url: responseUrl,
      trigger_id: triggerId,
      is_enterprise_install: 'false',
    };
  }

  #privateChannelId(personId: string): string {
    return channelIdOf(this.#parts.directory.conversation(privateConversationId(personId)));
  }
}

function envelope({ id, atMs }: Pick<StoredMessage, 'id' | 'atMs'>, kind: string, event: object): object {
  return {
    team_id: TEAM_ID,
    context_team_id: TEAM_ID,
    api_app_id: APP_ID,
    event,
    type: 'event_callback',
    event_id: eventIdOf(kind, id),
    event_time: Math.floor(atMs / SECOND_MS),
    authorizations: [{ enterprise_id: null, team_id: TEAM_ID, user_id: BOT_USER_ID, is_bot: true }],
    is_ext_shared_channel: false,
  };
}

function channelType({ kind }: Conversation): string {
  return kind === 'private' ? 'im' : 'channel';
}

/** Slack's names of the most common file types; all others are binary. */
const MIME_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  csv: 'text/csv',
  md: 'text/markdown',
  txt: 'text/plain',
  html: 'text/html',
};

/** Files of a person's message as Slack describes them. */
export async function filesOf(
  parts: Pick<PayloadParts, 'media' | 'url'>,
  { imageIds = [], fileIds = [] }: Pick<StoredMessage, 'imageIds' | 'fileIds'>,
): Promise<object[]> {
  const images = imageIds.map(async (mediaId) => {
    const { bytes, type } = await parts.media.readImage(mediaId);
    return { mediaId, sizeBytes: bytes.length, type, name: `image.${FILE_ENDINGS[type]}` };
  });
  const files = fileIds.map(async (mediaId) => {
    const { sizeBytes, name } = await parts.media.describeFile(mediaId);
    const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
    return { mediaId, sizeBytes, type: MIME_TYPES[ending] ?? 'application/octet-stream', name };
  });
  return Promise.all(
    [...images, ...files].map(async (sent) => {
      const { mediaId, sizeBytes, type, name } = await sent;
      const address = `${parts.url()}/files-pri/${TEAM_ID}-${mediaId}/${encodeURIComponent(name)}`;
      return {
        id: fileIdOf(mediaId),
        name,
        title: name,
        mimetype: type,
        filetype: name.split('.').at(-1),
        size: sizeBytes,
        mode: 'hosted',
        url_private: address,
        url_private_download: address.replace(/\/[^/]*$/, `/download/${encodeURIComponent(name)}`),
      };
    }),
  );
}
