import type { Bootstrap, ConversationView, MessageView } from '../../../src/simulator/api.ts';

export const ALICE = { id: 'alice', name: 'Alice Wang', department: 'Physics' };
export const BOB = { id: 'bob', name: 'Bob Miller', department: 'Library' };
export const CHEN = { id: 'chen', name: '陈晓明', department: '信息中心' };

export const BOOTSTRAP: Bootstrap = {
  botName: 'Parley',
  people: [ALICE, BOB, CHEN],
  slashWords: [
    { word: '/help', help: { en: 'Show help', zh: '查看帮助' } },
    { word: '/new', help: { en: 'Start a new conversation', zh: '开始新对话' } },
    { word: '/stop', help: { en: 'Stop the running answer', zh: '停止正在生成的回答' } },
  ],
  protocol: 'wecom',
};

export const PRIVATE: ConversationView = {
  id: 'private:alice',
  kind: 'private',
  name: 'Parley',
  members: [ALICE],
  lastLine: '',
  lastAtMs: null,
  unread: 0,
};

export const GROUP: ConversationView = {
  id: 'group-1',
  kind: 'group',
  name: 'Lab seminar',
  members: [ALICE, BOB, CHEN],
  lastLine: 'See you at **ten**',
  lastAtMs: Date.UTC(2026, 0, 5, 9, 30),
  unread: 2,
};

/** A message of the private chat; every field can be overridden. */
export function messageView(overrides: Partial<MessageView> = {}): MessageView {
  return {
    id: 'm1',
    conversationId: PRIVATE.id,
    sender: 'bot',
    senderName: 'Parley',
    state: 'final',
    text: 'Hello.',
    images: [],
    atMs: Date.UTC(2026, 0, 5, 10, 0),
    ...overrides,
  };
}
