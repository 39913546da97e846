import { describe, expect, test } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { faultsIn } from './hostile-text.ts';

const ROOM_BYTES = 100_000;
const reader = new MarkdownIt({ html: true });
const blocks = (markdown: string) =>
  reader
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content }) => `${info.trim()}|${content}`);

const inner = '# Title\n\n```bash\nnpm start\n```\n\nThen:\n\n```js\nrun();\n```\n';
const nested = `Here:\n\n\`\`\`markdown\n${inner}\`\`\`\n\nThat is all.`;

describe.each([
  ['wecom', WECOM_DIALECT],
  ['slack', SLACK_DIALECT],
] as const)('nested code fences on %s', (_name, dialect) => {
  const writer = createMarkdownWriter(dialect);

  test('keep a markdown block that contains other blocks as one block', () => {
    const written = writer.renderFinished(nested, ROOM_BYTES);
    expect(blocks(written)).toEqual([`markdown|${inner}`]);
    expect(reader.render(written)).toContain('<p>That is all.</p>');
    expect(writer.renderFinished(written, ROOM_BYTES)).toBe(written);
  });

  test.each([
    ['in a list', '- So:\n\n  ```md\n  a\n  ```bash\n  b\n  ```\n  c\n  ```\n\n  end', ['md|a\n```bash\nb\n```\nc\n']],
    ['in a quote', '> ```md\n> a\n> ```sh\n> b\n> ```\n> ```', ['md|a\n```sh\nb\n```\n']],
    ['with tildes', '~~~text\na\n~~~sh\nb\n~~~\n~~~\n\nend', ['text|a\n~~~sh\nb\n~~~\n']],
    ['without nested blocks', '```markdown\na\n```\n\n```bash\nb\n```', ['markdown|a\n', 'bash|b\n']],
    ['in another language', '```bash\na\n```\nx\n```js\nb\n```', ['bash|a\n', 'js|b\n']],
    ['with four backticks', '````markdown\na\n```bash\nb\n```\n````', ['markdown|a\n```bash\nb\n```\n']],
    ['without its own closing fence', '```markdown\na\n```bash\nb\n```\nc', ['markdown|a\n```bash\nb\n```\nc']],
  ])('are read as intended in a block %s', (_where, text, expected) => {
    expect(blocks(writer.renderFinished(text, ROOM_BYTES))).toEqual(expected);
  });

  test('form at most one block at every step of streaming', () => {
    let before = '';
    for (let end = 1; end <= nested.length; end += 1) {
      const shown = writer.renderGrowing(nested.slice(0, end), ROOM_BYTES);
      expect(blocks(shown).length).toBeLessThanOrEqual(1);
      if (dialect.unfinished === 'hold') expect(shown.startsWith(before)).toBe(true);
      before = shown;
    }
    if (dialect.unfinished === 'hold') expect(writer.renderFinished(nested, ROOM_BYTES).startsWith(before)).toBe(true);
  });

  test('form one markdown block in each message when split', () => {
    const long = `\`\`\`markdown\n${inner.repeat(12)}\`\`\`\n\nThat is all.`;
    const pieces = writer.split(long, 300);
    expect(pieces.length).toBeGreaterThan(2);
    const within = pieces.map(blocks).flat();
    expect(within.every((block) => block.startsWith('markdown|'))).toBe(true);
    expect(within.map((block) => block.replace('markdown|', '')).join('')).toBe(inner.repeat(12));
    for (const piece of pieces) expect(writer.renderFinished(piece, ROOM_BYTES)).toBe(piece);
  });

  test.each([
    '- @\nlazy\n| a |\n|---|\n\n\n\n\n      </think>',
    '- @\n|\n-|\n\n\n\n\n     </think>',
    '~~~|\n---\n<!--',
    '~~~|\n---\n\n<!-- x',
  ])('do not expose HTML that an independent parser would interpret: %j [two-readings]', (text) => {
    for (const shown of [writer.renderFinished(text, ROOM_BYTES), writer.renderGrowing(text, ROOM_BYTES)])
      expect(faultsIn(shown)).toEqual([]);
  });
});
