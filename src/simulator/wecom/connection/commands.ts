import { groupConversationId, privateConversationId } from '../../directory.ts';
import type { MessengerContext } from '../../protocol.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from '../api-result.ts';
import { readReply } from '../read-reply.ts';
import { asFields } from '../fields.ts';
import type { UserIds } from '../user-ids.ts';
import { ANSWERED_BY } from './connection-calls.ts';
import type { CommandFrame } from './frames.ts';
import type { FrameAnswers } from './frame-answers.ts';
import type { Requests } from './requests.ts';
import type { UnreadMessages } from './unread-messages.ts';
import type { Uploads } from './uploads.ts';

export interface CommandsOptions {
  side: MessengerContext;
  requests: Requests;
  unread: UnreadMessages;
  answers: FrameAnswers;
  uploads: Uploads;
  userIds: UserIds;
  /** Whether a req_id becomes invalid with the connection that delivered it. */
  forgetsRequests: boolean;
}

/** Number of recent messages in a conversation of which one must be to the bot, so that the bot may write there. */
const SEARCHED_MESSAGES = 200;

/** Commands of a subscribed bot (PLATFORM_FACTS.md wecom-connection). */
export class Commands {
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  async perform({ cmd, reqId, body }: CommandFrame, connectionId: string): Promise<ApiResult> {
    const { uploads } = this.#options;
    switch (cmd) {
      case 'ping':
        return apiOk();
      case 'aibot_respond_msg':
        return this.#respond(reqId, body, connectionId);
      case 'aibot_respond_welcome_msg':
      case 'aibot_respond_update_msg':
        return this.#answerEvent(cmd, reqId, body);
      case 'aibot_send_msg':
        return this.#push(body);
      case 'aibot_upload_media_init':
        return uploads.begin(asFields(body));
      case 'aibot_upload_media_chunk':
        return uploads.add(asFields(body));
      case 'aibot_upload_media_finish':
        return uploads.finish(asFields(body));
      default:
        return this.#violated('a command of an unknown type');
    }
  }

  async #respond(reqId: string, body: unknown, connectionId: string): Promise<ApiResult> {
    const { requests, unread, answers, side, forgetsRequests } = this.#options;
    const request = requests.find(reqId);
    if (request?.kind !== 'message') return badRequestId();
    const question = await side.store.get(request.messageId).catch(() => undefined);
    if (!question) return badRequestId();
    unread.recordAnswered(question.id);
    if (forgetsRequests && request.connectionId !== connectionId) {
      answers.noteRefused(question);
      return badRequestId();
    }
    return answers.respond(question, body);
  }

  /** Each kind of event is answered by one command, once and in time. */
  #answerEvent(cmd: string, reqId: string, body: unknown): ApiResult {
    const request = this.#options.requests.find(reqId);
    if (request?.kind !== 'event' || ANSWERED_BY[request.eventtype] !== cmd) return badRequestId();
    if (cmd === 'aibot_respond_welcome_msg' && !/^(text|card)$/.test(readReply(body).kind))
      return this.#violated('only a text or a card may answer the entry into a chat');
    request.answer.resolve(body);
    return apiOk();
  }

  async #push(body: unknown): Promise<ApiResult> {
    const { chatid: chatId, chat_type: chatType } = asFields(body);
    const conversationId = this.#conversationOf(typeof chatId === 'string' ? chatId : '', chatType);
    if (conversationId === undefined) return apiFault(ERRCODE.badChatId, 'invalid chatid');
    const messages = await this.#options.side.store.list(conversationId, SEARCHED_MESSAGES);
    if (!messages.some(({ delivery }) => delivery !== undefined))
      return apiFault(ERRCODE.chatNotPushable, 'nobody has written to the bot in this chat');
    return this.#options.answers.push(conversationId, body);
  }

  /** Without a type, groups are searched first, then people. */
  #conversationOf(chatId: string, chatType: unknown): string | undefined {
    const { side, userIds } = this.#options;
    const group = findGroup(side.directory, chatId);
    if (group !== undefined && chatType !== 1) return group;
    const person = chatType === 2 ? undefined : userIds.findForBot(chatId);
    return person && privateConversationId(person.id);
  }

  #violated(reason: string): ApiResult {
    this.#options.side.trace.recordViolation(reason);
    return apiFault(ERRCODE.badParameter, reason);
  }
}

function findGroup(directory: MessengerContext['directory'], chatId: string): string | undefined {
  try {
    return directory.conversation(groupConversationId(chatId)).id;
  } catch {
    return undefined;
  }
}

function badRequestId(): ApiResult {
  return apiFault(ERRCODE.badRequestId, 'invalid req_id');
}
