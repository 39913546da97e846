import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { escapeHtml } from '../../../src/simulator/web/code-block.ts';
import { paintCode } from '../../../src/simulator/web/code-paint.ts';
import { PLAIN_RUNS, SOUGHT_ENDS } from '../../text-cost/hostile-runs.ts';
import { growthFault } from '../../text-cost/measure-cost.ts';
import { tries } from '../../support/tries.ts';

const LANGUAGES = [
  'js',
  'ts',
  'json',
  'python',
  'bash',
  'sql',
  'yaml',
  'html',
  'css',
  'java',
  'cpp',
  'go',
  'rust',
  'diff',
  'ruby',
];
/** Two names per language. The result for one name is not cached for the other. */
const ALL = (
  'js ts json python bash sql yaml html xml css scss less c cpp java csharp kotlin scala dart go rust ruby swift r powershell ' +
  'dockerfile diff toml ini'
).split(' ');
const ALIASES = [
  ['js', 'javascript'],
  ['ts', 'typescript'],
  ['py', 'python'],
  ['sh', 'bash'],
  ['sql', 'mysql'],
  ['yml', 'yaml'],
  ['htm', 'html'],
  ['cpp', 'c++'],
  ['golang', 'go'],
  ['rs', 'rust'],
  ['rb', 'ruby'],
  ['patch', 'diff'],
] as const;
const plain = (html: string | undefined) => html?.replace(/<\/?span[^>]*>/g, '');
const parts = (html: string | undefined) =>
  [...(html ?? '').matchAll(/<span class="code-(\w+)">([^<]*)<\/span>/g)].map(
    ([, name = '', words = '']) => `${name} ${words}`,
  );

const anyCode = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'const ',
        'def f(',
        ')',
        '{',
        '}',
        '"',
        "'",
        '`',
        '/*',
        '*/',
        '//',
        '#',
        '<a b="c">',
        '</a>',
        '\n',
        '\n\n',
        '\t',
      ),
      fc.constantFrom(
        '<<EOF\n',
        'EOF\n',
        '${',
        '$(',
        '%w[',
        '=>',
        'select * from ',
        '--',
        '@x',
        '\\',
        '1.5e3',
        '&',
        '- a: ',
        '|\n',
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

describe('Coloured code', () => {
  test('is recognised in the languages of typical answers, by any of their names', () => {
    expect(parts(paintCode('const a = "x"; // why\n', 'ts'))).toEqual([
      'keyword const',
      'name a',
      'string &quot;x&quot;',
      'comment // why',
    ]);
    expect(parts(paintCode('def f(a):\n    return 1  # one', 'Python'))).toEqual(
      expect.arrayContaining(['keyword def', 'name f', 'keyword return', 'number 1', 'comment # one']),
    );
    expect(parts(paintCode('-- all\nSELECT 1 FROM t', 'sql'))).toEqual(
      expect.arrayContaining(['comment -- all', 'keyword SELECT', 'number 1']),
    );
    for (const language of LANGUAGES)
      expect([language, paintCode('x', language)]).toEqual([language, expect.any(String)]);
    expect(paintCode('x', 'klingon')).toBeUndefined();
    expect(paintCode('x', 'constructor')).toBeUndefined();
  });

  test('contains exactly the code and no foreign tag, for any code', () => {
    fc.assert(
      fc.property(anyCode, fc.constantFrom(...LANGUAGES), (code, language) => {
        expect(plain(paintCode(code, language))).toBe(escapeHtml(code));
      }),
      { numRuns: tries(300) },
    );
  });

  test('ends the same when it grows as when it is painted at once', () => {
    fc.assert(
      fc.property(
        anyCode,
        fc.constantFrom(...ALIASES),
        fc.integer({ min: 1, max: 9 }),
        (code, [language, alias], step) => {
          // Closed with a line break that is not part of the code, as in WeCom's snapshots.
          for (let end = 0; end < code.length; end += step) paintCode(`${code.slice(0, end)}\n`, language);
          expect(paintCode(code, language)).toBe(paintCode(code, alias));
        },
      ),
      {
        numRuns: tries(200),
        // A string literal that is open at the end of one snapshot and closed in the next.
        examples: [['let one = `a`;\nlet two = `b` + c;', ['ts', 'typescript'], 1]],
      },
    );
  });

  test('takes time proportional to the length of a growing block, for any number of snapshots', () => {
    const lines = (count: number) => 'const value = compute("x", 12); // line\n'.repeat(count);
    const cost = (count: number) => {
      const code = `// ${count} lines\n${lines(count)}`;
      const before = process.cpuUsage();
      for (let end = 40; end < code.length; end += 40) paintCode(code.slice(0, end), 'ts');
      return (process.cpuUsage(before).user + process.cpuUsage(before).system) / 1_000;
    };
    cost(100);
    const least = (count: number) => Math.min(cost(count), cost(count + 1), cost(count + 2));
    const [small, large] = [least(80), least(640)];
    // Eight times the lines take eight times the work, not 64 times.
    expect(large).toBeLessThan(24 * Math.max(5, small));
  });

  test('takes little time for the longest line that is coloured, for any content', () => {
    const slow = ALL.flatMap((language) =>
      [...SOUGHT_ENDS, ...PLAIN_RUNS]
        .filter((run) => minMs(run.of(1_000), language) > 60)
        .map(({ name }) => [language, name]),
    );
    expect(slow).toEqual([]);
  });

  test.each(['js', 'css', 'yaml'])('takes linear time for hostile code: %s', async (language) => {
    for (const run of SOUGHT_ENDS)
      expect([run.name, await growthFault((text) => paintCode(text, language), run)]).toEqual([run.name, undefined]);
  });
});

/** CPU time; the minimum of three tries is stable on a busy machine. */
function minMs(line: string, language: string): number {
  let least = Infinity;
  for (let attempt = 0; attempt < 3 && least > 60; attempt += 1) {
    const before = process.cpuUsage();
    paintCode(line, language);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
