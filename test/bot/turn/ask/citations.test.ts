import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SUMMARY_RULES } from '../../../../src/bot/turn/conversation/label-text.ts';
import { listSources, formatCitedSources } from '../../../../src/bot/turn/answer/list-sources.ts';
import { NamedLinks } from '../../../../src/bot/turn/answer/named-links.ts';
import { TurnSources } from '../../../../src/bot/turn/answer/turn-sources.ts';
import { measureProcessorTime } from '../../../support/processor-time.ts';
import { tries } from '../../../support/tries.ts';

// The citations that an answer may contain [sources-were-read].

const HANDBOOK = { documentId: 'a', source: 'Staff', title: 'Handbook' };
const LIBRARY = { documentId: 'b', source: 'Campus', title: 'Library', url: 'https://docs.example/library' };

function turn(found = [HANDBOOK, LIBRARY], written: string[] = []) {
  const sources = new TurnSources();
  sources.heard(written.map((content) => ({ role: 'user' as const, content })));
  for (const one of found) sources.cite(one);
  const links = new NamedLinks(sources.marks);
  return { sources, links };
}

function answered(text: string, written: string[] = []) {
  const { sources, links } = turn(undefined, written);
  links.add(text);
  return { text: links.completeText(), cited: sources.all.flatMap(({ number, isCited }) => (isCited ? [number] : [])) };
}

describe('a citation number in an answer', () => {
  test.each([
    ['Five days [1].', 'Five days [1].', [1]],
    ['五天[2]。', '五天[2]。', [2]],
    ['Five days [7].', 'Five days.', []],
    ['Five days [1][3][2].', 'Five days [1][2].', [1, 2]],
    ['Five days [1, 3].', 'Five days [1].', [1]],
    ['Five days [1，2]。', 'Five days [1，2]。', [1, 2]],
    ['Five days【1†source】.', 'Five days[1].', [1]],
    ['Five days【9†source】.', 'Five days.', []],
    ['Five days [^2].', 'Five days [2].', [2]],
    ['Run `list[7]` and `list[1]`.', 'Run `list[7]` and `list[1]`.', []],
    ['```\nlist[7] [1]\n```\nand [7] [1]', '```\nlist[7] [1]\n```\nand [1]', [1]],
    ['~~~\n[7]\n```\n[7]\n~~~\n[7]', '~~~\n[7]\n```\n[7]\n~~~\n', []],
    ['[7](https://docs.example/x)', '[7](https://docs.example/x)', []],
    ['``a`[7]`` [7]', '``a`[7]``', []],
    ['a ` b [7] c', 'a ` b c', []],
    ['[0] [1234] [A]', ' [1234] [A]', []],
  ])('in %j is shown as %j', (said, text, cited) => {
    expect(answered(said)).toEqual({ text, cited });
  });

  test('is kept when a person wrote it, and then does not count as a source', () => {
    expect(answered('As [7] shows, [8] does not [1].', ['See [7] Smith 2020'])).toEqual({
      text: 'As [7] shows, does not [1].',
      cited: [1],
    });
  });
});

test('does not treat numbers in a summary as written by a person, because the model wrote it', () => {
  const sources = new TurnSources();
  sources.heard([{ role: 'user', content: `${SUMMARY_RULES}\nSee [4].` }]);
  const links = new NamedLinks(sources.marks);
  links.add('As said [4].');
  expect(links.completeText()).toBe('As said.');
});

test('gives a document one number, however often it is found', () => {
  const { sources } = turn();
  expect([sources.cite({ ...HANDBOOK }), sources.cite({ ...LIBRARY, source: 'Other' })]).toEqual([1, 3]);
});

const PIECES = fc.array(
  fc.constantFrom(
    '[1]',
    '[2]',
    '[7]',
    '[7',
    ']',
    '[',
    '`',
    '```',
    '~~~',
    '\n',
    '\n\n',
    ' ',
    'a',
    '是',
    '【',
    '3†x】',
    '1, 7]',
    '(',
    ')',
    '[^1]',
  ),
  { maxLength: 40 },
);

test('property: an answer ends the same however it is streamed, shows no source that was not found, and loses nothing else', () => {
  fc.assert(
    fc.property(PIECES, (pieces) => {
      const whole = answered(pieces.join('')).text;
      const { links } = turn();
      for (const piece of pieces) {
        links.add(piece);
        expect(outsideCode(links.text)).not.toMatch(/\[7\](?!\()/);
      }
      expect(links.completeText()).toBe(whole);
      expect(outsideCode(whole)).not.toMatch(/\[7\](?!\()/);
      const letters = (text: string) => text.replace(/[^a是]/gu, '');
      expect(letters(whole)).toBe(letters(pieces.join('')));
    }),
    { numRuns: tries(3_000) },
  );
});

/** A simpler detection of code than the tested one: a text with a fence or a backtick counts as code entirely. */
function outsideCode(text: string): string {
  return /`|~~~/.test(text) ? '' : text;
}

test('processes a long answer of special characters in linear time', () => {
  const costMs = (chars: number) => {
    const spentMs = measureProcessorTime();
    for (const sign of ['`', '[1', '[1,', '【1†', '`a``b', '[7] '])
      answered(sign.repeat(Math.ceil(chars / sign.length)));
    return spentMs();
  };
  costMs(20_000);
  const least = (chars: number) => Math.min(costMs(chars), costMs(chars), costMs(chars));
  const [small, large] = [least(20_000), least(160_000)];
  expect(large).toBeLessThan(small * 40 + 200);
});

describe('the sources below an answer', () => {
  test('are the cited ones, with their links', () => {
    const { sources, links } = turn();
    links.add('Open from eight [2].');
    links.completeText();
    expect(formatCitedSources(sources.all, 'en')).toBe(
      '\n\n**Sources**\n- [2] [Library](https://docs.example/library)',
    );
    expect(formatCitedSources(sources.all, 'zh')).toContain('**来源**');
  });

  test('are empty when the answer cites none', () => {
    expect(formatCitedSources(turn().sources.all, 'en')).toBe('');
  });

  test.each([
    ['[x](https://evil.example)\n- [9] other', undefined, '- [1] x(https://evil.example) - 9 other'],
    ['a'.repeat(500), undefined, `- [1] ${'a'.repeat(120)}…`],
    ['Guide', 'javascript:alert(1)', '- [1] Guide'],
    ['Guide', 'https://docs.example/a)(b', '- [1] [Guide](https://docs.example/a%29%28b)'],
  ])('have plain titles and link only to web pages: %j', (title, url, line) => {
    expect(listSources([{ number: 1, source: 's', title, url }])).toBe(line);
  });
});
