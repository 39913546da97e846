import type { Conversation } from '../directory.ts';
import type { StoredMessage } from '../stored-message.ts';
import { writeEphemeral } from './ephemeral-messages.ts';
import { BotFiles } from './bot-files.ts';
import type { BotMessages } from './bot-messages.ts';
import { demandText, flagOf, metadataOf, textOf, tsOf, type CallArguments, asObject } from './call-arguments.ts';
import { readMessageContent, streamBlocks, streamEnd, streamText } from './message-words.ts';
import type { BlockContent } from './read-blocks.ts';
import { readHistory, readReplies } from './read-messages.ts';
import { isViolation, SlackFault } from './slack-fault.ts';
import type { MessengerContext } from '../protocol.ts';
import type { Statuses } from './statuses.ts';
import {
  APP_ID,
  BOT_ID,
  BOT_USER_ID,
  channelIdOf,
  memberIdOf,
  messageIdOf,
  TEAM_ID,
  TEAM_NAME,
  type TsClock,
  type Workspace,
} from './workspace.ts';
import type { PromptsView } from '../api.ts';

/** Maximum number of prompts (PLATFORM_FACTS.md slack-assistant). */
const MAX_PROMPTS = 4;

/** Prompts from `assistant.threads.setSuggestedPrompts`. @throws SlackFault `invalid_arguments` */
function readPrompts(args: CallArguments): PromptsView {
  const { prompts } = args;
  if (!Array.isArray(prompts) || prompts.length === 0 || prompts.length > MAX_PROMPTS)
    throw new SlackFault('invalid_arguments');
  const items = prompts.map((prompt) => {
    const [title, message] = [textOf(asObject(prompt), 'title'), textOf(asObject(prompt), 'message')];
    if (title === undefined || message === undefined) throw new SlackFault('invalid_arguments');
    return { title, message };
  });
  return { title: textOf(args, 'title'), items };
}

/** A Slack response: HTTP 200 also for failures, distinguished by `ok`. */
export type WebApiAnswer = { ok: true; [field: string]: unknown } | { ok: false; error: string };

export interface WebApiParts {
  side: MessengerContext;
  workspace: Workspace;
  clock: TsClock;
  answers: BotMessages;
  statuses: Statuses;
}

type Method = (args: CallArguments) => object | Promise<object>;

/** The part of Slack's Web API that a bot of this kind uses (PLATFORM_FACTS.md slack-web-api), as strict as Slack. */
export class WebApi {
  readonly #side: MessengerContext;
  readonly #workspace: Workspace;
  readonly #clock: TsClock;
  readonly #answers: BotMessages;
  readonly #statuses: Statuses;
  readonly #methods: ReadonlyMap<string, Method>;
  /** The bot's uploaded files. */
  readonly files: BotFiles;

  constructor({ side, workspace, clock, answers, statuses }: WebApiParts) {
    this.#side = side;
    this.#workspace = workspace;
    this.#clock = clock;
    this.#answers = answers;
    this.#statuses = statuses;
    this.files = new BotFiles(side, { clock, channel: (args, name) => this.#channel(args, name) });
    const { files } = this;
    this.#methods = new Map<string, Method>([
      ['auth.test', () => this.#authTest()],
      ['bots.info', (args) => this.#botInfo(args)],
      ['users.info', (args) => this.#userInfo(args)],
      ['users.list', () => this.#userList()],
      ['conversations.open', (args) => ({ channel: { id: channelIdOf(this.#channel(args, 'users')) } })],
      ['conversations.info', (args) => this.#channelInfo(args)],
      ['conversations.history', (args) => readHistory(side, this.#channel(args), args)],
      ['conversations.replies', (args) => readReplies(side, this.#channel(args), args)],
      ['assistant.threads.setStatus', (args) => this.#setStatus(args)],
      ['assistant.threads.setSuggestedPrompts', (args) => this.#suggest(args)],
      ['files.getUploadURLExternal', (args) => files.begin(args)],
      ['files.completeUploadExternal', (args) => files.complete(args)],
      ['files.info', (args) => files.info(args)],
      ['chat.postMessage', (args) => this.#post(args)],
      ['chat.delete', (args) => this.#delete(args)],
      ['chat.postEphemeral', (args) => this.#tell(args)],
      ['chat.update', (args) => this.#update(args)],
      ['chat.startStream', (args) => this.#startStream(args)],
      ['chat.appendStream', (args) => this.#appendStream(args)],
      ['chat.stopStream', (args) => this.#stopStream(args)],
    ]);
  }

  /** Executes a call with a valid token. Rule violations are recorded in the trace. */
  async call(method: string, read: () => CallArguments): Promise<WebApiAnswer> {
    try {
      const run = this.#methods.get(method);
      if (!run) throw new SlackFault('unknown_method');
      return { ok: true, ...(await run(read())) };
    } catch (error) {
      if (!(error instanceof SlackFault)) throw error;
      if (isViolation(error)) this.#side.trace.recordViolation(`${method}: ${error.code}`);
      return { ok: false, error: error.code };
    }
  }

  #authTest(): object {
    const { bot, url } = this.#side;
    return {
      url: `${url()}/`,
      team: TEAM_NAME,
      user: bot.name.toLowerCase(),
      team_id: TEAM_ID,
      user_id: BOT_USER_ID,
      bot_id: BOT_ID,
      is_enterprise_install: false,
    };
  }

  #botInfo(args: CallArguments): object {
    if (demandText(args, 'bot') !== BOT_ID) throw new SlackFault('bot_not_found');
    const { name } = this.#side.bot;
    return { bot: { id: BOT_ID, app_id: APP_ID, user_id: BOT_USER_ID, name: name.toLowerCase(), deleted: false } };
  }

  #userInfo(args: CallArguments): object {
    const id = demandText(args, 'user');
    const person = this.#workspace.person(id);
    if (!person) throw new SlackFault('user_not_found');
    const { name, department } = person;
    const language = flagOf(args, 'include_locale') ? this.#side.directory.languageOf(person.id) : undefined;
    const locale = language && { en: 'en-US', zh: 'zh-CN' }[language];
    const profile = { real_name: name, display_name: name, title: department };
    return {
      user: { id, team_id: TEAM_ID, name: person.id, real_name: name, is_bot: false, deleted: false, locale, profile },
    };
  }

  #userList(): object {
    const members = this.#side.directory.people.map(({ id, name, department }) => ({
      ...{ id: memberIdOf(id), team_id: TEAM_ID, name: id, real_name: name, is_bot: false, deleted: false },
      profile: { real_name: name, display_name: name, title: department },
    }));
    return { members };
  }

  /** A private chat has no name. */
  #channelInfo(args: CallArguments): object {
    const { id, kind, name } = this.#channel(args);
    const isPrivate = kind === 'private';
    const channel = { id: channelIdOf({ id, kind }), is_channel: !isPrivate, is_im: isPrivate };
    return { channel: isPrivate ? channel : { ...channel, name } };
  }

  #setStatus(args: CallArguments): object {
    const threadTs = tsOf(args, 'thread_ts');
    if (threadTs === undefined || typeof args['status'] !== 'string') throw new SlackFault('invalid_arguments');
    this.#statuses.set(this.#channel(args, 'channel_id'), threadTs, args['status']);
    return {};
  }

  /** Prompts are shown in the chat until its person writes; here the thread of Slack's assistant view is the whole chat. */
  async #suggest(args: CallArguments): Promise<object> {
    const conversation = this.#channel(args, 'channel_id');
    tsOf(args, 'thread_ts');
    await this.#side.store.setPrompts(conversation.id, readPrompts(args));
    await this.#side.chatLog.publishConversation(conversation.id);
    return {};
  }

  async #post(args: CallArguments): Promise<object> {
    const conversation = this.#channel(args);
    return this.#open(conversation, args, { words: readMessageContent(args, 'post'), isStream: false });
  }

  async #startStream(args: CallArguments): Promise<object> {
    const conversation = this.#channel(args);
    if (tsOf(args, 'thread_ts') === undefined) throw new SlackFault('invalid_arguments');
    if (conversation.kind === 'group') {
      if (textOf(args, 'recipient_user_id') === undefined) throw new SlackFault('missing_recipient_user_id');
      if (textOf(args, 'recipient_team_id') === undefined) throw new SlackFault('missing_recipient_team_id');
    }
    return this.#open(conversation, args, {
      words: { markdown: streamText(args), note: '', blocks: streamBlocks(args) },
      isStream: true,
    });
  }

  async #open(
    conversation: Conversation,
    args: CallArguments,
    { words, isStream }: { words: BlockContent; isStream: boolean },
  ): Promise<object> {
    const threadTs = tsOf(args, 'thread_ts');
    const metadata = metadataOf(args);
    const shown = await this.#answers.post(conversation, {
      ...words,
      isStream,
      metadata,
      threadTs,
    });
    if (threadTs !== undefined) this.#statuses.clear(conversation, threadTs);
    return this.#done(shown);
  }

  /** The deleted message keeps its place on the page, as in Slack for a message with replies. */
  async #delete(args: CallArguments): Promise<object> {
    const message = await this.#side.store.get(this.#messageId(args)).catch(() => undefined);
    if (message?.sender !== 'bot' || message.onlyFor !== undefined || message.isDeleted === true)
      throw new SlackFault('message_not_found');
    await this.#answers.remove(message.id);
    return this.#done(message);
  }

  /** Ephemeral messages are not messages of the channel. */
  async #tell(args: CallArguments): Promise<object> {
    const conversation = this.#channel(args);
    const person = this.#workspace.person(demandText(args, 'user'));
    if (!person) throw new SlackFault('user_not_found');
    if (!conversation.members.some(({ id }) => id === person.id)) throw new SlackFault('user_not_in_channel');
    const told = await writeEphemeral(
      this.#side,
      { workspace: this.#workspace, clock: this.#clock },
      {
        conversation,
        words: readMessageContent(args, 'post'),
        onlyFor: person.id,
        threadTs: tsOf(args, 'thread_ts'),
        isOfChannel: false,
      },
    );
    return { message_ts: told.slack?.ts };
  }

  async #update(args: CallArguments): Promise<object> {
    const id = this.#messageId(args);
    return this.#done(await this.#answers.update(id, readMessageContent(args, 'edit'), metadataOf(args)));
  }

  async #appendStream(args: CallArguments): Promise<object> {
    const text = streamText(args);
    if (text === '' && args['chunks'] === undefined) throw new SlackFault('no_text');
    return this.#done(await this.#answers.append(this.#messageId(args), text, streamBlocks(args)));
  }

  async #stopStream(args: CallArguments): Promise<object> {
    return this.#done(await this.#answers.stop(this.#messageId(args), streamEnd(args), metadataOf(args)));
  }

  #messageId(args: CallArguments): string {
    const ts = tsOf(args, 'ts');
    if (ts === undefined) throw new SlackFault('invalid_arguments');
    return messageIdOf(channelIdOf(this.#channel(args)), ts);
  }

  #channel(args: CallArguments, name = 'channel'): Conversation {
    const found = this.#workspace.channel(demandText(args, name));
    if (!found) throw new SlackFault('channel_not_found');
    return found;
  }

  #done({ conversationId, slack }: StoredMessage): object {
    return { channel: channelIdOf(this.#side.directory.conversation(conversationId)), ts: slack?.ts };
  }
}
