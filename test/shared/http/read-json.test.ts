import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatJsonFault, readJson } from '../../../src/shared/http/read-json.ts';
import { tries } from '../../support/tries.ts';

function faultOf(text: string): string {
  const read = readJson(text);
  return read.ok ? 'none' : formatJsonFault(read.fault);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('faults in JSON files, reported with line and column in plain words', () => {
  test.each<[what: string, text: string, fault: string | RegExp]>([
    ['an extra comma in a list', '[\n  1,\n  2,\n]', 'Line 4, column 1: there is a comma before this ]: remove it'],
    ['an extra comma in an object', '{"a": 1, }', 'Line 1, column 10: there is a comma before this }: remove it'],
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 'Line 3, column 3: a comma is missing before this'],
    ['a missing comma before a number', '[1 2]', 'Line 1, column 4: a comma or ] is missing here'],
    ['a missing colon', '{"a" 1}', 'Line 1, column 6: a colon is missing here'],
    ['curly quotation marks', '{“a”: 1}', /^Line 1, column 2: .*straight double quotation marks/],
    ['single quotation marks', "{'a': 1}", /^Line 1, column 2: .*straight double quotation marks/],
    ['a full-width comma', '{"张": "伟"，"b": 1}', /^Line 1, column 10: ， is a full-width character/],
    ['a comment', '{\n  // who\n  "a": 1}', 'Line 2, column 3: JSON has no comments: remove this'],
    ['a name without quotation marks', '{a: 1}', 'Line 1, column 2: a name in double quotation marks is missing here'],
    ['an unterminated text', '["abc\n]', /^Line 1, column 2: this string has no closing "/],
    ['a Windows path', '["C:\\people"]', /^Line 1, column 2: .*an invalid \\/],
    ['a missing value', '{"a": }', /^Line 1, column 7: a value is missing here/],
    ['a bare word', '[yes]', /^Line 1, column 2: a value is missing here/],
    ['a missing end', '{"a": [1, 2', 'Line 1, column 12: the file ends here, and ] is missing'],
    ['an extra end', '[]]', /^Line 1, column 3: the file should end here/],
    ['nothing', ' \n', 'Line 2, column 1: the file is empty'],
  ])('%s', (_what, text, fault) => {
    if (typeof fault === 'string') expect(faultOf(text)).toBe(fault);
    else expect(faultOf(text)).toMatch(fault);
  });

  test('do not include a byte order mark', () => {
    expect(readJson('\uFEFF[1]')).toEqual({ ok: true, value: [1] });
  });

  test('have the place of the first character at which the file is no longer valid JSON', () => {
    const edited = fc
      .tuple(
        fc.jsonValue(),
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.constantFrom('', ',', '}', ']', '"', ':', '[', '{', 'x', '\n'),
      )
      .map(([value, at, count, put]) => {
        const text = JSON.stringify(value, null, 1);
        const from = at % (text.length + 1);
        return text.slice(0, from) + put + text.slice(from + count);
      });
    fc.assert(
      fc.property(edited, (text) => {
        const read = readJson(text);
        expect(read.ok).toBe(isJson(text));
        if (read.ok) return;
        const { line, column } = read.fault;
        const lines = text.split('\n');
        expect(line).toBeLessThanOrEqual(lines.length);
        const before = [...lines.slice(0, line - 1), [...(lines[line - 1] ?? '')].slice(0, column - 1).join('')].join(
          '\n',
        );
        // Cut off there, the file has no fault before its end.
        const cut = readJson(before);
        const atEnd = cut.ok || (cut.fault.line === line && cut.fault.column >= column);
        expect([text, atEnd]).toEqual([text, true]);
      }),
      { numRuns: tries(500) },
    );
  });

  test('are found at any depth, without text of the file', () => {
    expect(faultOf('['.repeat(200_000))).toMatch(/ends here/);
    expect(faultOf('{"secret-name": "secret-value" "x"}')).not.toContain('secret');
  });
});
