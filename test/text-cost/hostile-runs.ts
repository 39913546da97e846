import fc from 'fast-check';

/** Characters and markup that a text may repeat any number of times. */
export const SIGNS: readonly string[] = [
  ...[' ', '\t', '\n', '\r\n', '  \n', '\n\n', '\u00a0', '\u3000', '\u200b', '\u200d', '\ufeff'],
  ...['`', '``', '` `` ', '*', '**', '*a_', '**a', '_', '~', '~~a', '\\', '\\"', '"', "'", '=', '-\n', '=\n'],
  ...[
    '[',
    ']',
    '(',
    ')',
    '[]',
    '](',
    '![',
    '[a](',
    '[a](b',
    '[a](b)',
    '[a][',
    '[a]: ',
    '[a]: b x\n',
    '[[',
    '(aa',
    '[^',
  ],
  ...[
    '<',
    '>',
    '<@',
    '<a ',
    "<a b='",
    '<a b="c" ',
    '<x:',
    '<a:',
    '<!A',
    '<!--',
    '<?',
    '<![CDATA[',
    '</',
    '<https://x|',
  ],
  ...[
    '<think>',
    '\n<think>',
    '</think>',
    '<div>\n',
    'a:',
    'a@',
    '@',
    '@all',
    '@Parley Bot ',
    '&',
    '&#',
    '&lt;',
    '&amp;',
  ],
  ...[
    '#',
    '\n# ',
    '> ',
    '\n> ',
    '- ',
    '\n- ',
    '1. ',
    '\n1) ',
    '\n    ',
    '\n```\n',
    '|',
    '|-',
    '| a ',
    '|-|\n',
    'a | b\n',
  ],
  ...[
    '1',
    '1,',
    'a',
    'a ',
    'a.',
    'a_b.',
    'A',
    'A_',
    '中',
    '。',
    'www.a_b.',
    'http://a.b/',
    'x@y.z ',
    'mailto:',
    '//',
    '%',
    '/',
  ],
  ...[
    'code=',
    'state=a\\',
    '"access_token":"',
    '"code":"a_',
    'Bearer ',
    'sk-',
    'xoxb-',
    '/link/',
    'data:a/b;base64,QUJD',
  ],
  ...['$', '$a', '$$', '\\(', '\\[a', '\\(a\\)', '<T>'],
  ...['\u0301', '\u0301\u0316', '\ud83d', '👩‍', '🏳️', '!', ':', ';', ',', '{', '}', '/new ', 'in A ', 'from '],
  ...['<arg_key>a', '<parameter=a>', '<arg_value>', 'f(', ')', 'call ', ',000'],
];

/** Text before a run: the opening of a construct whose end is searched for. */
const OPENINGS = [
  'x ',
  '<',
  '[',
  '(',
  '`',
  '"',
  'http://a.b/',
  'http://x.',
  '[a](',
  '[a]: b "',
  '<a ',
  'a | b\n',
  '\n',
];

/** A text of any length. */
export interface Run {
  name: string;
  /** UTF-16 units, approximately. */
  of(chars: number): string;
}

function repeat(unit: string, chars: number): string {
  return unit.repeat(Math.ceil(chars / unit.length));
}

/** Each character alone, behind alternating openings, and before a text that is not the end that it requires. */
export const PLAIN_RUNS: readonly Run[] = SIGNS.map((sign, index) => {
  const opening = OPENINGS[index % OPENINGS.length] ?? '';
  return {
    name: JSON.stringify([opening, sign]),
    of: (chars: number) => `${opening}${repeat(sign, chars)} y`,
  };
});

/** Openings whose ends are searched for in the rest of the text. Each was once searched again for every character. */
export const SOUGHT_ENDS: readonly Run[] = [
  ['**x** ', ' ', 'y'],
  ['http://a.b/', ')'],
  ['http://a.b/', '&amp;'],
  ['http://x.', 'a', '.b.c d'],
  ['[a]: b "', 'c\n'],
  ['[a', '\nc'],
  ['[a]: b x\n', 'c\n'],
  ['p\na | b\n', ' ', 'x'],
  ['[x](', '(aaa', ' z'],
  ['[a', '\u0301\u0316', '](http://x.y)'],
  ['<', 'a:', ' '],
  ['<', ' ', 'message'],
  ['\\', '\\', '"password'],
  ['', ']\\"'],
  ['[a]', '\\"]'],
].map(([opening = '', unit = '', end = '']) => ({
  name: JSON.stringify([opening, unit, end]),
  of: (chars: number) => `${opening}${repeat(unit, chars)}${end}`,
}));

const pieces = (maxLength: number) =>
  fc.array(fc.constantFrom(...SIGNS, ...OPENINGS), { maxLength }).map((all) => all.join(''));
const unit = fc.array(fc.constantFrom(...SIGNS), { minLength: 1, maxLength: 3 }).map((all) => all.join(''));

/** A beginning, one or two repeated mixtures, and an end. */
export const mixedRun: fc.Arbitrary<Run> = fc
  .tuple(pieces(2), unit, fc.option(unit, { nil: '' }), pieces(1))
  .map(([opening, first, second, end]) => ({
    name: JSON.stringify([opening, first, second, end]),
    of: (chars: number) =>
      second === ''
        ? opening + repeat(first, chars) + end
        : opening + repeat(first, chars / 2) + repeat(second, chars / 2) + end,
  }));
