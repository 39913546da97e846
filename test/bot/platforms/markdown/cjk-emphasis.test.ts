import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { tries } from '../../../support/tries.ts';

const ROOM_BYTES = 100_000;
/** A strict CommonMark parser, as clients use. */
const reader = new MarkdownIt();

/** The contents of each `<tag>` after strict rendering. */
function marked(markdown: string, tag: string): string[] {
  return [...reader.render(markdown).matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, inner = '']) =>
    inner.replace(/<[^>]*>/g, ''),
  );
}

describe.each([
  ['wecom', WECOM_DIALECT],
  ['slack', SLACK_DIALECT],
] as const)('CJK emphasis on %s', (_name, dialect) => {
  const writer = createMarkdownWriter(dialect);

  test.each([
    ['这是**重要。**请看，含**“重点”**内容', 'strong', ['重要。', '“重点”']],
    ['请在**2026年3月1日（周日）**前提交，**逾期不候！**谢谢', 'strong', ['2026年3月1日（周日）', '逾期不候！']],
    ['参见**《学生手册》**第三章和**【附件】**部分', 'strong', ['《学生手册》', '【附件】']],
    ['これは**「重要」**です。**必読。**以上', 'strong', ['「重要」', '必読。']],
    ['이것은 **중요(필독)**입니다', 'strong', ['중요(필독)']],
    ['运行**`npm start`**命令', 'strong', ['npm start']],
    ['见*（附录）*部分，*注意：*别忘', 'em', ['（附录）', '注意：']],
    ['原价~~100元。~~现价', 's', ['100元。']],
    ['**甲。**乙**丙。**丁', 'strong', ['甲。', '丙。']],
    ['- **第一、**准备\n- **第二、**提交', 'strong', ['第一、', '第二、']],
    ['| 项 |\n| --- |\n| **含“税”**价 |', 'strong', ['含“税”']],
    ['**50%**以上，共**$5**元', 'strong', ['50%', '$5']],
  ])('renders as the model marked it: %s', (text, tag, expected) => {
    const written = writer.renderFinished(text, ROOM_BYTES);
    expect(marked(written, tag)).toEqual(expected);
    expect(written.replaceAll('\u200a', '')).toBe(text.replace(/\$(?=5)/, () => '$'));
    expect(writer.renderFinished(written, ROOM_BYTES)).toBe(written);
  });

  test.each([
    '**重要** 请看',
    'a **b.** c',
    '`**重要。**请看`',
    '```\n**重要。**请看\n```',
    '2*3*4',
    '使用__init__方法',
    'a*（b',
  ])('leaves %s unchanged', (text) => {
    expect(writer.renderFinished(text, ROOM_BYTES)).toBe(text);
  });

  test('adds its separators outside a run of three asterisks', () => {
    const written = writer.renderFinished('这***“重点”***是', ROOM_BYTES);
    expect(marked(written, 'em')).toEqual(['“重点”']);
    expect(marked(written, 'strong')).toEqual(['“重点”']);
  });

  const word = fc.constantFrom('重要', '请看', '内容', 'です', '한글', 'word', '5');
  const sign = fc.constantFrom('。', '，', '“', '”', '（', '）', '「', '」', '！', '.', '%', '');
  const inner = fc.tuple(sign, word, sign).map((parts) => parts.join(''));
  const texts = fc.array(fc.tuple(word, inner), { minLength: 1, maxLength: 4 });

  test('is bold for exactly the marked words, at every step of streaming too', () => {
    fc.assert(
      fc.property(texts, (parts) => {
        const text = `${parts.map(([before, bold]) => `请${before}看**${bold}**请`).join('')}完`;
        const expected = parts.map(([, bold]) => bold);
        expect(marked(writer.renderFinished(text, ROOM_BYTES), 'strong')).toEqual(expected);
        let before = '';
        for (let end = 1; end <= text.length; end += 1) {
          const shown = writer.renderGrowing(text.slice(0, end), ROOM_BYTES);
          marked(shown, 'strong').forEach((bold, index) => expect(expected[index]?.startsWith(bold)).toBe(true));
          expect(reader.render(shown).replace(/<[^>]*>/g, '')).not.toContain('**');
          if (dialect.unfinished === 'hold') expect(shown.startsWith(before)).toBe(true);
          before = shown;
        }
      }),
      { numRuns: tries(100) },
    );
  });
});
