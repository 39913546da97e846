import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_REPLY_BYTES,
  renderPlain,
  renderReply,
  splitReply,
} from '../../../../src/bot/platforms/wecom/render-reply.ts';
import { anyText } from '../../../support/any-text.ts';
import { tries } from '../../../support/tries.ts';

const final = (text: string, status?: string) =>
  renderReply({ text, finished: true, ...(status === undefined ? {} : { status }) });
const live = (text: string, status?: string) =>
  renderReply({ text, finished: false, ...(status === undefined ? {} : { status }) });

describe('WeCom reply snapshot', () => {
  test('contains the model’s text and nothing else', () => {
    const markdown = '# Title\n\n- one **bold**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
    expect(final(markdown)).toBe(markdown);
    expect(final('half a **wor')).toBe('half a **wor');
    expect(final('```js\nlet open')).toBe('```js\nlet open');
  });

  test('shows a status in the thinking block', () => {
    expect(live('', 'Looking it up …')).toBe('<think>ℹ️ Looking it up …</think>');
    expect(live('Half', 'Looking it up …')).toBe('<think>ℹ️ Looking it up …</think>\nHalf');
    expect(final('Whole', 'Linked to <think>Li</think>')).toBe(
      '<think>ℹ️ Linked to ＜think>Li＜/think></think>\nWhole',
    );
    // A tool's status contains text from the model (SECURITY.md honest-links).
    expect(live('', 'Searching: @all [bank.example](https://x.test/)')).toBe(
      '<think>ℹ️ Searching: ＠all bank.example ([https://x.test/](https://x.test/))</think>',
    );
    expect(live('')).toBe('');
    expect(live(' \n')).toBe('');
  });

  test('shows the model’s thinking in the thinking block, apart from text and status', () => {
    const snapshot = (view: { text: string; status?: string; thinking?: string; finished?: boolean }) =>
      renderReply({ finished: false, ...view });
    expect(snapshot({ text: '', thinking: 'Let me see' })).toBe('<think>Let me see</think>');
    expect(snapshot({ text: 'Hi', thinking: 'Let me see' })).toBe('<think>Let me see</think>\nHi');
    const both = { text: 'Hi', thinking: 'a', status: 'b\nc' };
    expect(snapshot(both)).toBe('<think>a\n\nℹ️ b\nℹ️ c</think>\nHi');
    expect(snapshot({ ...both, finished: true })).toBe('<think>ℹ️ b\nℹ️ c\n\na</think>\nHi');
    expect(snapshot({ text: 'Hi', thinking: '' })).toBe('Hi');
    expect(snapshot({ text: '', thinking: 'only thought', finished: true })).toBe('');
    expect(snapshot({ text: 'Hi', thinking: 'x</think>@all now' })).toBe('<think>x＜/think>＠all now</think>\nHi');
    expect(snapshot({ text: 'Hi', thinking: '![a](https://t.test/p)' })).not.toContain('![');
  });

  test('does not let a line of thinking imitate a status line', () => {
    const snapshot = (thinking: string) => renderReply({ text: 'Hi', thinking, finished: true });
    for (const posing of [
      'ℹ️ Stopped.',
      'a\nℹ️ Stopped.',
      'a\n\n  ℹ️ Stopped.',
      'ℹ\u200b️ Stopped.',
      '\u2066ℹ️ Stopped.',
    ])
      expect(snapshot(posing)).not.toContain('ℹ️');
  });

  test('shows the newest part of long thinking, without shortening the text', () => {
    const thinking = `first ${'思考'.repeat(5_000)} newest`;
    const shown = renderReply({ text: 'Hi', thinking, finished: false });
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(4_200);
    expect(shown).toMatch(/^<think>…(?:思|考)[思考]+ newest<\/think>\nHi$/);
    for (const roomBytes of [0, 100, 300, 1_000, 5_000]) {
      const text = 'a'.repeat(MAX_REPLY_BYTES - roomBytes);
      const whole = renderReply({ text, thinking, finished: true });
      expect(whole.endsWith(text)).toBe(true);
      expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(MAX_REPLY_BYTES);
    }
  });

  test('shows the status of a finished reply without text', () => {
    expect(final('', 'Stopped.')).toBe('Stopped.');
  });

  test('cuts a long text at a character and closes its fence', () => {
    const chinese = final('你'.repeat(10_000));
    expect(Buffer.byteLength(chinese)).toBeLessThanOrEqual(MAX_REPLY_BYTES);
    expect(chinese).toMatch(/^你+$/);
    const code = final(`\`\`\`\n${'line\n'.repeat(6_000)}`, 'busy');
    expect(Buffer.byteLength(code)).toBeLessThanOrEqual(MAX_REPLY_BYTES);
    expect(code.endsWith('\n```')).toBe(true);
  });
});

describe('WeCom mentions and imitated markup', () => {
  test.each([
    ['@all hello', '＠all hello'],
    ['hello @ALL!', 'hello ＠ALL!'],
    ['通知@所有人开会', '通知＠所有人开会'],
    ['@all你好', '＠all你好'],
    ['@a\u200bll', '＠all'],
    ['@AllArgsConstructor', '@AllArgsConstructor'],
    ['bob@allianz.com', 'bob@allianz.com'],
    ['<@zhangsan>', '<＠zhangsan>'],
    ['<@all>', '<＠all>'],
    ['so <think>plan</think>', 'so ＜think>plan＜/think>'],
    ['< / THINK>', '＜ / THINK>'],
    ['if (a<b) think()', 'if (a<b) think()'],
    ['evil\u202etxt.exe', 'eviltxt.exe'],
    ['family 👨‍👩‍👧 stays', 'family 👨‍👩‍👧 stays'],
    ['x\u200dy', 'xy'],
    ['\u{1F3F4}\u{E0067}\u{E007F}', '\u{1F3F4}'],
    ['bell\u0007, tab\t', 'bell, tab\t'],
    ['```\n@all <think>\n```', '```\n＠all ＜think>\n```'],
  ])('are neutralised, and other text is kept: %j', (text, shown) => {
    expect(final(text)).toBe(shown);
  });
});

describe('WeCom links', () => {
  const url = 'https://x.test/p?q=1';
  test.each([
    [`![a cat](${url})`, `a cat: [${url}](${url})`],
    [`![](${url})`, `[${url}](${url})`],
    [`![ref][1]`, '![ref][1]'],
    [`!![](${url})`, `[${url}](${url})`],
    [`[docs](${url})`, `[docs](${url})`],
    [`[${url}](${url})`, `[${url}](${url})`],
    [`[x.test](${url})`, `[x.test](${url})`],
    ['[see the readme](https://x.test/p?q=1)', '[see the readme](https://x.test/p?q=1)'],
    // A file name may also be a host name: .md is a country-code domain.
    ['[see readme.md](https://x.test/p?q=1)', 'see readme.md ([https://x.test/p?q=1](https://x.test/p?q=1))'],
    [`[bank.example](${url})`, `bank.example ([${url}](${url}))`],
    [`[https://bank.example/login](${url})`, `https://bank.example/login ([${url}](${url}))`],
    ['[click](javascript:alert(1))', 'click (javascript:alert(1))'],
    ['[mail](mailto:a@b.test)', 'mail (mailto:a@b.test)'],
    [`[![badge](https://i.test/b.svg)](${url})`, `[badge](${url})`],
    [`[wiki](https://x.test/a_(b) "title")`, '[wiki](https://x.test/a_(b))'],
    ['<img src="https://t.test/p.png">', '＜img src="https://t.test/p.png">'],
    [`\\\`[bank.example](${url})\\\``, `\\\`bank.example ([${url}](${url}))\\\``],
    ['`[a](b)` and [a](b)', '`[a](b)` and a (b)'],
    ['```md\n[a](b)\n```\n[a](b)', '```md\n[a](b)\n```\na (b)'],
    ['let v = `vec![1]`;', 'let v = `vec![1]`;'],
    ['```rust\nlet v = vec![1];\n```', '```rust\nlet v = vec![1];\n```'],
  ])('show their address when it is not evident, and code is kept: %j', (text, shown) => {
    expect(final(text)).toBe(shown);
  });

  test('do not load an image, even in text that may or may not be code', () => {
    const image = `![p](https://t.test/?data=secret)`;
    for (const text of [image, `\`${image}\``, `\\\`${image}\\\``, `1. a\n   \`\`\`\n${image}`, `\`open ${image}`]) {
      expect(final(text)).not.toMatch(/!\[p\]\(http/);
    }
  });
});

test('renderPlain cuts a text without exposing a mention, within the limit', () => {
  for (let maxBytes = 3; maxBytes < 12; maxBytes += 1) {
    const shown = renderPlain('x@allocate', maxBytes);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maxBytes);
    expect(shown).not.toMatch(/@all$/);
  }
});

describe('WeCom splitReply', () => {
  test('returns a short text as one message', () => {
    expect(splitReply('short')).toEqual(['short']);
    expect(splitReply('')).toEqual(['']);
  });

  test('cuts a long text between paragraphs, without blank pieces', () => {
    const paragraph = `${'你好，世界。'.repeat(100)}\n\n`;
    const pieces = splitReply(paragraph.repeat(30));
    expect(pieces.length).toBe(3);
    expect(pieces.every((piece) => piece.endsWith('\n\n'))).toBe(true);
    expect(splitReply(`a${'\n'.repeat(60_000)}b`)).toHaveLength(2);
  });
});

describe('WeCom rendering of any text', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '@',
      '@all',
      'all',
      '@所',
      '有人',
      '<',
      '/',
      'think',
      '>',
      '`',
      '```',
      '\n',
      '\u200b',
      '\u202e',
      '![',
      '](',
      ')',
      '(',
    ),
    fc.constantFrom(
      '[',
      ']',
      'https://x.test/',
      ' ',
      'https://y.test',
      '<@',
      '\u200d',
      '👩',
      'y.test',
      '~~~',
      '\n```js\n',
      '"',
    ),
    anyText({ maxLength: 8 }),
  );
  const text = fc.array(word, { maxLength: 80 }).map((words) => words.join(''));
  const LIVE_MARK = /@所有人|@all(?![A-Za-z0-9_])|<@|<\s*\/?\s*think|[\u200b\u202e]|!\[[^\]\n]*\]\(https?:/i;

  test('leaves no active markup and is unchanged by a second rendering', () => {
    fc.assert(
      fc.property(text, (model) => {
        const shown = final(model);
        expect(shown).not.toMatch(LIVE_MARK);
        expect(final(shown)).toBe(shown);
      }),
      { numRuns: tries(300) },
    );
  });

  test('splits into pieces that fit and contain no active markup', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 500, max: 3_000 }), (model, times) => {
        const pieces = splitReply(model.repeat(times).slice(0, 100_000));
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(MAX_REPLY_BYTES);
          expect(piece).not.toMatch(LIVE_MARK);
        }
      }),
      { numRuns: tries(25) },
    );
  });

  test('keeps every snapshot within the limit', () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 2_000 }), fc.boolean(), (model, status, times, finished) => {
        const shown = renderReply({ text: model.repeat(times), status, finished });
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(MAX_REPLY_BYTES);
      }),
      { numRuns: tries(25) },
    );
  });

  test('puts any thinking into one harmless block and leaves the text after it unchanged', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 300 }), (thought, times) => {
        const shown = renderReply({ text: 'The answer.', thinking: thought.repeat(times), finished: false });
        const match = /^(?:<think>([\s\S]*?)<\/think>\n)?The answer\.$/.exec(shown);
        expect(match).not.toBeNull();
        expect(match?.[1] ?? '').not.toMatch(LIVE_MARK);
      }),
      { numRuns: tries(300) },
    );
  });
});
