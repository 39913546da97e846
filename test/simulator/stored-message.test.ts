import { describe, expect, test } from '@jest/globals';
import { lastLineOf, type StoredMessage } from '../../src/simulator/stored-message.ts';
import { plainPreview } from '../../src/simulator/web/markdown.ts';

const message = (text: string): StoredMessage => ({
  id: 'a',
  conversationId: 'c',
  sender: 'bot',
  senderName: 'Parley',
  atMs: 0,
  text,
  images: [],
  state: 'final',
  canRate: false,
});

describe('the preview line of a conversation', () => {
  test.each([
    ['`who_am_i` answered:\n\n> Name: Emma\n> Identity: staff', 'who_am_i answered: Name: Emma Identity: staff'],
    ['Set `WECOM_BOT_NAME` and snake_case_name', 'Set WECOM_BOT_NAME and snake_case_name'],
    ['# Title\n\nSee you at **ten**\n```ts\nlet a\n```', 'Title See you at ten let a'],
    ['| a | b |\n| --- | --- |\n| 1 | 2 |', 'a b --- --- 1 2'],
    [
      `To answer this I must know who you are. Please [sign in](http://127.0.0.1:8080/link/${'x'.repeat(43)}) and go on.`,
      'To answer this I must know who you are. Please sign in and go on.',
    ],
    ['Items:\n\n- one\n- two', 'Items: - one - two'],
  ])('of %j has the expected text', (text, line) => expect(plainPreview(lastLineOf(message(text), false))).toBe(line));
});
