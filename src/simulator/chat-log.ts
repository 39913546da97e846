import type { NowMs } from '../shared/clock.ts';
import { randomToken } from '../shared/crypto/ids.ts';
import { SHOWN_MESSAGES, type ConversationView, type MessageView } from './api.ts';
import type { Conversation, Directory } from './directory.ts';
import type { EventHub } from './event-hub.ts';
import type { MessageStore } from './message-store.ts';
import { isSeenBy, lastLineOf, viewOf, type StoredMessage } from './stored-message.ts';

export interface ChatLogOptions {
  store: MessageStore;
  directory: Directory;
  hub: EventHub;
  nowMs: NowMs;
}

/** The conversations as all members see them: each change is stored first and then published to all members. */
export class ChatLog {
  readonly #options: ChatLogOptions;

  constructor(options: ChatLogOptions) {
    this.#options = options;
  }

  /** Stores and publishes a new or changed message. `quietly` does not update the conversation list (growing text). */
  async write(message: StoredMessage, quietly = false): Promise<void> {
    const { store, directory, hub } = this.#options;
    await store.save(message);
    const conversation = directory.conversation(message.conversationId);
    const readers = conversation.members.filter(({ id }) => isSeenBy(message, id));
    for (const reader of readers) hub.publish(reader.id, { name: 'message', data: viewOf(message, reader.id) });
    if (!quietly) await Promise.all(readers.map((reader) => this.#publishConversationTo(reader.id, conversation)));
  }

  /** Removes a message without a trace. */
  async remove({ id, conversationId }: StoredMessage): Promise<void> {
    const { store, directory, hub } = this.#options;
    await store.remove(id);
    const conversation = directory.conversation(conversationId);
    for (const { id: readerId } of conversation.members)
      hub.publish(readerId, { name: 'gone', data: { id, conversationId } });
    await this.publishConversation(conversationId);
  }

  /** Publishes a conversation's state to all members. */
  async publishConversation(conversationId: string): Promise<void> {
    const conversation = this.#options.directory.conversation(conversationId);
    await Promise.all(conversation.members.map(({ id }) => this.#publishConversationTo(id, conversation)));
  }

  /** A centered system line. */
  async writeSystemLine(conversationId: string, text: string): Promise<StoredMessage> {
    const message: StoredMessage = {
      id: randomToken(12),
      conversationId,
      sender: 'system',
      senderName: '',
      state: 'final',
      text,
      images: [],
      atMs: this.#options.nowMs(),
    };
    await this.write(message);
    return message;
  }

  /** @param beforeId returns the messages before this one. @throws MessengerError `not_found` */
  async messages(personId: string, conversationId: string, beforeId?: string): Promise<MessageView[]> {
    this.#options.directory.conversationOf(personId, conversationId);
    const messages = await this.#options.store.list(conversationId, SHOWN_MESSAGES, beforeId);
    return messages.filter((message) => isSeenBy(message, personId)).map((message) => viewOf(message, personId));
  }

  async conversations(personId: string): Promise<ConversationView[]> {
    const conversations = this.#options.directory.conversationsOf(personId);
    return Promise.all(conversations.map((conversation) => this.#view(personId, conversation)));
  }

  async markRead(personId: string, conversationId: string): Promise<void> {
    const conversation = this.#options.directory.conversationOf(personId, conversationId);
    await this.#options.store.markRead(personId, conversationId);
    await this.#publishConversationTo(personId, conversation);
  }

  async #publishConversationTo(personId: string, conversation: Conversation): Promise<void> {
    const data = await this.#view(personId, conversation);
    this.#options.hub.publish(personId, { name: 'conversation', data });
  }

  async #view(personId: string, { id, kind, name, members }: Conversation): Promise<ConversationView> {
    const { store } = this.#options;
    const [{ unread, last }, prompts] = await Promise.all([store.position(personId, id), store.prompts(id)]);
    const lastLine = last ? lastLineOf(last, kind === 'group') : '';
    return { id, kind, name, members, lastLine, lastAtMs: last?.atMs ?? null, unread, prompts };
  }
}
