import type { Conversation } from '../directory.ts';
import { isLineComplete, type SlackPart, type StoredMessage } from '../stored-message.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { DELETED_TEXT } from './event-payload.ts';
import type { SlackBlock } from './call-arguments.ts';
import type { BlockContent } from './read-blocks.ts';
import { buttonsOf, namedBlocks } from './read-buttons.ts';
import { SlackFault } from './slack-fault.ts';
import type { MessengerContext } from '../protocol.ts';
import type { SlackTiming } from './timing.ts';
import { newBotMessage, SEARCHED_MESSAGES } from './threads.ts';
import type { TsClock, Workspace } from './workspace.ts';
import { callsEverybody, shownText } from './written-text.ts';

/** A bot's message from a call. */
export interface BotMessage extends BlockContent {
  threadTs?: string;
  metadata?: SlackPart['metadata'];
  isStream: boolean;
}

interface SlackParts {
  workspace: Workspace;
  clock: TsClock;
  timing: SlackTiming;
}

/**
 * The bot's messages: posted and edited, or native streams whose complete state is kept here. Streams expire about five
 * minutes after their start (PLATFORM_FACTS.md slack-streams); an edited message counts as finished after a time without
 * edits.
 */
export class BotMessages {
  readonly #side: MessengerContext;
  readonly #slack: SlackParts;
  readonly #mutex = new KeyedMutex();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(side: MessengerContext, slack: SlackParts) {
    this.#side = side;
    this.#slack = slack;
  }

  /** @throws SlackFault `thread_not_found`, `cannot_reply_to_message` */
  post(conversation: Conversation, { threadTs, metadata, isStream, ...words }: BotMessage): Promise<StoredMessage> {
    const { store, nowMs } = this.#side;
    return this.#mutex.run(conversation.id, async () => {
      const fresh = await newBotMessage(this.#side, this.#slack.clock, { conversation, threadTs });
      const questionId = await this.#questionFor(conversation, threadTs);
      const streamSinceMs = isStream ? nowMs() : undefined;
      const message: StoredMessage = {
        ...fresh,
        state: 'streaming',
        slack: { ...fresh.slack, questionId, streamSinceMs },
      };
      await store.markOpen(message.id);
      return this.#show(message, { ...words, metadata });
    });
  }

  /**
   * Appends to a native stream. @throws SlackFault `message_not_found`, `message_not_in_streaming_state`, `stopped_by_user`
   */
  append(messageId: string, text: string, added: readonly SlackBlock[] = []): Promise<StoredMessage> {
    return this.#change(messageId, async (message) => {
      if (message.slack?.isStoppedByUser === true) throw new SlackFault('stopped_by_user');
      await this.#demandStream(message);
      return this.#show(message, { markdown: rawOf(message) + text, note: '', blocks: joined(message, added) });
    });
  }

  /** Ends a native stream; a stream that its reader has stopped may still be ended. @throws SlackFault like `append` */
  stop(
    messageId: string,
    { markdown, note, blocks: added = [] }: BlockContent,
    metadata: SlackPart['metadata'],
  ): Promise<StoredMessage> {
    return this.#change(messageId, async (message) => {
      await this.#demandStream(message);
      const { streamSinceMs: _ended, isStoppedByUser: _stopped, ...slack } = message.slack ?? { ts: '' };
      const blocks = joined(message, added);
      const words = { markdown: rawOf(message) + markdown, note, blocks };
      return this.#show({ ...message, state: 'final', slack }, { ...words, metadata });
    });
  }

  /** Replaces the whole content. @throws SlackFault `message_not_found`, `cant_update_message` while it streams */
  update(messageId: string, words: BlockContent, metadata: SlackPart['metadata']): Promise<StoredMessage> {
    return this.#change(messageId, async (message) => {
      if (this.#isAlive(message)) throw new SlackFault('cant_update_message');
      return this.#show({ ...message, state: 'streaming' }, { ...words, metadata });
    });
  }

  /**
   * Replaces a message's content through a click's response URL, also of an ephemeral message. @throws SlackFault
   * `message_not_found`
   */
  replace(messageId: string, words: BlockContent): Promise<StoredMessage> {
    return this.#changeAny(messageId, (message) =>
      this.#show({ ...message, state: 'final' }, { ...words, blocks: words.blocks ?? [] }),
    );
  }

  /** Deletes a message; an ephemeral message leaves no trace. @throws SlackFault `message_not_found` */
  remove(messageId: string): Promise<void> {
    return this.#changeAny(messageId, async (message) => {
      const { chatLog, store } = this.#side;
      this.#forgetTimer(messageId);
      await store.markSettled(messageId);
      if (message.onlyFor !== undefined) return chatLog.remove(message);
      const { blocks: _gone, streamSinceMs: _over, ...slack } = message.slack ?? { ts: '' };
      const stone = { ...message, state: 'final', text: DELETED_TEXT, isDeleted: true, slack } as const;
      await chatLog.write({ ...stone, note: undefined, buttons: undefined });
    });
  }

  /** Records that a person pressed one of a pair of thumbs. @throws SlackFault `message_not_found` */
  notePressed(messageId: string, personId: string, thumbId: string): Promise<StoredMessage> {
    return this.#changeAny(messageId, async (message) => {
      const others = (message.pressed?.[personId] ?? []).filter((id) => pairOf(id) !== pairOf(thumbId));
      const noted = { ...message, pressed: { ...message.pressed, [personId]: [...others, thumbId] } };
      await this.#side.chatLog.write(noted, true);
      return noted;
    });
  }

  /**
   * The reader presses "Stop": the bot learns of it with its next append. @returns false if the message is not a live stream
   */
  stopByUser(messageId: string): Promise<boolean> {
    return this.#change(messageId, async (message) => {
      if (!this.#isAlive(message) || !message.slack) return false;
      await this.#side.chatLog.write({ ...message, slack: { ...message.slack, isStoppedByUser: true } }, true);
      return true;
    });
  }

  /** Sets the timeouts of a message that an earlier run left unfinished. */
  follow(message: StoredMessage): void {
    const { streamSinceMs } = message.slack ?? {};
    const { nowMs } = this.#side;
    const { timing } = this.#slack;
    const leftMs = streamSinceMs === undefined ? timing.editQuietMs : streamSinceMs + timing.streamLifeMs - nowMs();
    this.#settleAfter(message.id, Math.max(0, leftMs));
  }

  async answerTo({ id, conversationId }: StoredMessage): Promise<StoredMessage | undefined> {
    const messages = await this.#side.store.list(conversationId, SEARCHED_MESSAGES);
    return messages.find(({ slack, sender }) => sender === 'bot' && slack?.questionId === id);
  }

  async settled(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await this.#mutex.settled();
  }

  /** A message of the channel: the bot's token can change no other kind. */
  #change<Result>(messageId: string, work: (message: StoredMessage) => Promise<Result>): Promise<Result> {
    return this.#changeAny(messageId, (message) => {
      if (message.onlyFor !== undefined || message.isDeleted === true) throw new SlackFault('message_not_found');
      return work(message);
    });
  }

  async #changeAny<Result>(messageId: string, work: (message: StoredMessage) => Promise<Result>): Promise<Result> {
    const { store } = this.#side;
    const found = await store.get(messageId).catch(() => undefined);
    if (found?.sender !== 'bot') throw new SlackFault('message_not_found');
    return this.#mutex.run(found.conversationId, async () => work(await store.get(messageId)));
  }

  async #show(
    { note: _before, ...message }: StoredMessage,
    { markdown: raw, note, metadata, blocks: given }: BlockContent & { metadata?: SlackPart['metadata'] },
  ): Promise<StoredMessage> {
    const { chatLog, store, trace, bot } = this.#side;
    const questionId = message.slack?.questionId ?? '';
    if (callsEverybody(raw) || callsEverybody(note)) trace.recordViolation('the text mentions everyone', questionId);
    const text = shownText(raw, this.#slack.workspace, bot.name);
    trace.recordSnapshot(questionId, text);
    const before: SlackPart = message.slack ?? { ts: '' };
    const blocks = given ? namedBlocks(given) : before.blocks;
    const slack: SlackPart = { ...before, raw, blocks, metadata: metadata ?? before.metadata };
    const isFirst = message.text === '';
    const buttons = viewsOf(blocks);
    const shown: StoredMessage = { ...message, text, note: note === '' ? undefined : note, buttons, slack };
    if (shown.state === 'final') {
      await store.markSettled(shown.id);
      this.#forgetTimer(shown.id);
    } else {
      await store.markOpen(shown.id);
      // A stream expires relative to its start, an edited message relative to its last edit.
      if (slack.streamSinceMs === undefined || isFirst) this.follow(shown);
    }
    await chatLog.write(shown, shown.state !== 'final' && isLineComplete(message));
    return shown;
  }

  #settleAfter(messageId: string, delayMs: number): void {
    this.#forgetTimer(messageId);
    const timer = setTimeout(() => {
      this.#timers.delete(messageId);
      this.#change(messageId, (message) => this.#settle(message)).catch((error: unknown) => {
        this.#side.background.failed(error, 'an answer could not be finished');
      });
    }, delayMs);
    this.#timers.set(messageId, timer);
  }

  #forgetTimer(messageId: string): void {
    clearTimeout(this.#timers.get(messageId));
    this.#timers.delete(messageId);
  }

  async #settle(message: StoredMessage): Promise<void> {
    const { streamSinceMs: _over, ...slack } = message.slack ?? { ts: '' };
    await this.#side.store.markSettled(message.id);
    await this.#side.chatLog.write({ ...message, state: 'final', slack });
  }

  async #demandStream(message: StoredMessage): Promise<void> {
    if (this.#isAlive(message)) return;
    if (message.slack?.streamSinceMs !== undefined) await this.#settle(message);
    throw new SlackFault('message_not_in_streaming_state');
  }

  #isAlive({ slack }: StoredMessage): boolean {
    const { streamLifeMs } = this.#slack.timing;
    return slack?.streamSinceMs !== undefined && this.#side.nowMs() - slack.streamSinceMs < streamLifeMs;
  }

  /**
   * Slack does not tell which question a message answers: assume the oldest unanswered question of its thread (or channel).
   */
  async #questionFor({ id }: Conversation, threadTs: string | undefined): Promise<string | undefined> {
    const messages = await this.#side.store.list(id, SEARCHED_MESSAGES);
    const answered = new Set(messages.flatMap(({ slack }) => slack?.questionId ?? []));
    const isInPlace = ({ slack, state }: StoredMessage) =>
      slack !== undefined &&
      state !== 'failed' &&
      (slack.threadTs === threadTs || (threadTs !== undefined && slack.ts === threadTs));
    return messages.find((one) => !['bot', 'system'].includes(one.sender) && isInPlace(one) && !answered.has(one.id))
      ?.id;
  }
}

/** The buttons of blocks, as the page shows them. */
export function viewsOf(blocks: readonly SlackBlock[] | undefined): StoredMessage['buttons'] {
  const rows = buttonsOf(blocks).map((row) => row.map(({ view }) => view));
  return rows.length === 0 ? undefined : rows;
}

/** A stream's blocks with the newest ones added. */
function joined({ slack }: StoredMessage, added: readonly SlackBlock[]): SlackBlock[] {
  return namedBlocks([...(slack?.blocks ?? []), ...added]);
}

/** A thumb's id ends with its kind. */
function pairOf(thumbId: string): string {
  return thumbId.replace(/\/[^/]*$/, '');
}

function rawOf({ slack }: StoredMessage): string {
  return slack?.raw ?? '';
}
