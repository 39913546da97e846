import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inAppLinks } from '../../../src/simulator/web/links.ts';
import { mentionCutter } from '../../../src/simulator/web/mentions.ts';
import { drawFormula } from '../../../src/simulator/web/draw-formula.ts';
import { MAX_FORMULA_CHARS } from '../../../src/simulator/web/formula-syntax.ts';
import { plainPreview, renderBlocks, textPieces } from '../../../src/simulator/web/markdown.ts';
import { tries } from '../../support/tries.ts';

const OPTIONS = {
  isInApp: inAppLinks(['http://127.0.0.1:8080']),
  copyLabel: 'Copy code',
  cutMentions: mentionCutter(['Parley', 'Bob Miller', '陈晓明']),
};
const html = (text: string) => renderBlocks(text, OPTIONS).join('');

/** Parts that make dangerous or incomplete markdown likely. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<script>',
        '</script>',
        '<img src=x onerror=alert(1)>',
        '[a](',
        'javascript:alert(1)',
        ')',
        '![',
        '](',
      ),
      fc.constantFrom(
        'http://a.example',
        'data:text/html,x',
        '`',
        '```',
        '\n',
        '"',
        "'",
        '<',
        '>',
        '|',
        '|-|',
        '$',
        '$$',
        '\\(',
        '\\]',
        '- [x] ',
        '&lt;',
        '# ',
      ),
      fc.constantFrom('https://u:p@h.example/', 'vbscript:x', '<a href="javascript:x">', '[a]: javascript:x', '*'),
      fc.string({ maxLength: 6 }),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''));

const KNOWN_TAGS = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code div span button svg path table thead tbody tr th td a em strong s br hr label input'.split(
    ' ',
  ),
);

test.each([
  ['这是**重要。**请看，含**“重点”**内容', 'strong', ['重要。', '“重点”']],
  ['原价~~100元。~~现价', 's', ['100元。']],
  ['これは*「注意」*です', 'em', ['「注意」']],
  ['한국어**(필독)**입니다', 'strong', ['(필독)']],
])('emphasis next to CJK punctuation is shown as marked: %s', (text, tag, expected) => {
  const found = [...html(text).matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'g'))].map(([, inner]) => inner);
  expect(found).toEqual(expected);
});

describe('rendering Markdown', () => {
  test('adds no tag, attribute or scheme from the text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const [, name = '', attributes = ''] of html(text).matchAll(/<\/?([a-z0-9]+)([^>]*)>/gi)) {
          expect(KNOWN_TAGS).toContain(name.toLowerCase());
          expect(attributes.replace(/"[^"]*"/g, '""')).not.toMatch(/\son\w+=/i);
          const target = /href="([^"]*)"/.exec(attributes)?.[1] ?? 'https:';
          expect(target).toMatch(/^(https?:|mailto:)/i);
        }
      }),
      { numRuns: tries(400) },
    );
  });

  test('keeps finished blocks unchanged while a text grows', () => {
    const before = renderBlocks('# Title\n\nFirst paragraph.\n\nSecond', OPTIONS);
    const after = renderBlocks('# Title\n\nFirst paragraph.\n\nSecond one, and\n\n- a list', OPTIONS);
    expect(before).toHaveLength(3);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  });

  test('shows the host of a link unless its text contains it', () => {
    expect(html('[guide](https://docs.example:8443/a)')).toContain('data-host="docs.example:8443"');
    expect(html('[docs.example](https://docs.example/a)')).not.toContain('data-host');
    expect(html('https://docs.example/a')).not.toContain('data-host');
  });

  test('opens links of the bot in the app, and others in a tab without access to the page', () => {
    expect(html('[sign in](http://127.0.0.1:8080/link/x)')).toContain('data-in-app');
    const other = html('[x](https://elsewhere.example)');
    expect(other).not.toContain('data-in-app');
    expect(other).toContain('target="_blank"');
    expect(other).toContain('rel="noopener noreferrer"');
  });

  test('does not link an address with user name and password', () => {
    expect(html('[bank](https://bank.example@evil.example/)')).not.toMatch(/href="[^"]*(@|evil)/);
  });

  test('shows the language of a code block outside its text, with a labelled copy button', () => {
    const block = html('```ts title\nconst a = "<b>";\n```');
    expect(block).toContain('data-language="ts"');
    expect(block).toContain('aria-label="Copy code"');
    expect(block.replace(/<[^>]*>/g, '')).toBe('const a = &quot;&lt;b&gt;&quot;;\n');
  });

  test('lets a table scroll inside its own box', () => {
    expect(html('| a | b |\n|---|---|\n| 1 | 2 |')).toMatch(
      /^<div class="table-scroll" tabindex="0"><table>[^]*<\/table><\/div>$/,
    );
  });

  test('aligns columns by classes, since the page refuses style attributes', () => {
    const table = html('| a | b | c | d |\n|:--|--:|:-:|---|\n| 1 | 2 | 3 | 4 |');
    expect(table).not.toContain('style=');
    expect(table).toContain('<td class="align-left">1</td>');
    expect(table).toContain('<th class="align-right">b</th>');
    expect(table).toContain('<td class="align-center">3</td>');
    expect(table).toContain('<td>4</td>');
  });

  test('highlights mentions, except in links, code and mail addresses', () => {
    expect(html('Ask @bob miller, @陈晓明吧 or @Parleyman')).toBe(
      '<p>Ask <span class="mention">@bob miller</span>, <span class="mention">@陈晓明</span>吧 or @Parleyman</p>\n',
    );
    for (const text of ['[@Parley](https://x.example)', '`@Parley`', 'me@parley', '```\n@Parley\n```'])
      expect(html(text)).not.toContain('mention');
  });

  test('shows an image of the text as a link, or as text inside a link, and loads nothing', () => {
    expect(html('![A cat](https://cats.example/1.png)')).toContain('href="https://cats.example/1.png"');
    const nested = html('[![A cat](https://cats.example/1.png)](https://cats.example)');
    expect(nested).not.toContain('<img');
    expect(nested.match(/<a /g)).toHaveLength(1);
  });

  test('keeps an unsafe address as plain text', () => {
    expect(html('[x](vscode://a.example)')).toBe('<p>[x](vscode://a.example)</p>\n');
  });

  test('does not turn file names into links', () => {
    expect(html('See README.md and a.ts')).not.toContain('<a ');
  });
});

describe('plain texts', () => {
  test('consist of exactly their parts, for any text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(
          textPieces(text)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  test('consist of exactly their parts when split at mentions, for any text', () => {
    const cut = mentionCutter(['Parley', 'a', '.*', '陈晓明']);
    const text = fc
      .array(fc.constantFrom('@', 'Parley', 'a', '.*', ' ', '陈晓明', 'x', '\n'))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, (each) =>
        expect(
          cut(each)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(each),
      ),
    );
    expect(mentionCutter([''])('@ x')).toEqual([{ text: '@ x', isMention: false }]);
  });

  test('contain a written-out address as a part with a link', () => {
    expect(textPieces('see http://a.example/x, please')).toEqual([
      { text: 'see ' },
      { text: 'http://a.example/x', href: 'http://a.example/x' },
      { text: ', please' },
    ]);
  });

  test('have a preview of one line without markup', () => {
    expect(plainPreview('## Title\n\n- **one**\n- [two](https://x.example)\n\n```\ncode\n```')).toBe(
      'Title one two code',
    );
  });
});

describe('formulas', () => {
  /** The formulas that are found, each with `!` if it is displayed in its own line. */
  const formulas = (text: string) => {
    const found: string[] = [];
    renderBlocks(text, {
      ...OPTIONS,
      draw: (tex, isDisplay) => (found.push(`${tex}${isDisplay ? '!' : ''}`), '<b>drawn</b>'),
    });
    return found;
  };

  test.each<[text: string, found: string[]]>([
    ['The area is $\\pi r^2$.', ['\\pi r^2']],
    ['面积为$\\pi r^2$。', ['\\pi r^2']],
    ['Either \\(a_1\\) or \\[b^2\\] is *not* $*c*$', ['a_1', 'b^2!', '*c*']],
    ['$$x = 1$$', ['x = 1!']],
    ['$$\nx\n= 1\n- 2\n$$', ['\nx\n= 1\n- 2\n!']],
    [
      'Text:\n\\[\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n\\]\nmore',
      ['\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n!'],
    ],
    ['- one\n  $$\n  y\n  $$\n- two', ['\ny\n!']],
    ['`$a$` and\n```\n$$b$$\n```', []],
    ['It costs $5 and $10.', []],
    ['$5-$10, US$5 or 10$', []],
    ['$5, or 10$ in all', []],
    ['原价$5，现价4$起', []],
    ['$HOME/$USER and $HOME:$PATH', []],
    ['\\$a$ and $a\\$', []],
    ['$3x + 2$', ['3x + 2']],
    ['$2$', ['2']],
    ['$$ $$ and $ $ and \\(\\)', []],
    ['$$\nunclosed', []],
  ])('are found in %j', (text, found) => expect(formulas(text)).toEqual(found));

  test('are not found if they are longer than the limit', () => {
    for (const [open, close] of [
      ['$', '$'],
      ['\\(', '\\)'],
      ['$$', '$$'],
      ['$$\n', '\n$$'],
    ] as const) {
      expect(formulas(`${open}${'a '.repeat(MAX_FORMULA_CHARS / 2 - 4)}a${close}`)).toHaveLength(1);
      expect(formulas(`${open}${'a '.repeat(MAX_FORMULA_CHARS / 2)}a${close}`)).toEqual([]);
    }
  });

  test('are shown as their source until they can be drawn, if they are invalid, and in previews', () => {
    expect(html('so $a < b$')).toContain('<span class="formula">$a &lt; b$</span>');
    for (const tex of ['\\nosuchcommand', '\\frac{1', '{'.repeat(1_900), '\\def\\a{\\a\\a}\\a'])
      expect(drawFormula(tex, false)).toBeUndefined();
    expect(plainPreview('so $a < b$ and\n\n$$\nc\n$$')).toBe('so a < b and c');
  });

  test('cannot load anything, link, run scripts or set attributes, and are drawn without style attributes', () => {
    const hostile = [
      '\\href{javascript:alert(1)}{x}',
      '\\includegraphics{https://a.example/x.png}',
      '\\htmlStyle{background:url(https://a.example)}{x}',
      '\\htmlData{x=1}{x}',
      '\\text{<img src=x onerror=alert(1)> " style="color:red}',
      '\\color{red" onclick="alert(1)}{x}',
      '\\rule{9999999em}{9999999em}',
      '\\unicode{0} \\phase{x} \\vec{v} \\sqrt{\\frac{a}{b}} \\fcolorbox{red}{blue}{x}',
    ];
    for (const tex of hostile) {
      const drawn = renderBlocks(`\\(${tex}\\)`, { ...OPTIONS, draw: drawFormula }).join('');
      for (const tag of drawn.match(/<[^>]*>/g) ?? []) {
        expect(tag).not.toMatch(/\s(?:on\w+|style|href|src)=|^<(?:img|a|script)\b/);
        expect(tag).not.toMatch(/9999/);
      }
    }
  });
});

test('task lists are disabled checkboxes that are named by their text', () => {
  const list = html('- [ ] Write **it**\n- [x] Read\n- [ ]\n- [y] no\n\ntext [x] here');
  expect(list.match(/<label><input type="checkbox" disabled(?: checked)?> .*?<\/label>/g)).toEqual([
    '<label><input type="checkbox" disabled> Write <strong>it</strong></label>',
    '<label><input type="checkbox" disabled checked> Read</label>',
  ]);
  expect(list.match(/class="task"/g)).toHaveLength(2);
  expect(plainPreview('- [ ] Write\n- [x] Read')).toBe('☐ Write ☑ Read');
});
