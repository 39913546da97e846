import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { everyNth } from '../support/tries.ts';
import { expressionsIn, sourceFiles, type FoundExpression } from './find-expressions.ts';
import { pumpsOf } from './pump-strings.ts';

/** Lengths of the tested texts: the short one reveals cubic cost, the long ones quadratic cost. */
const SHORT_CHARS = 500;
const LONG_CHARS = 8_000;
const TIMES = 4;
/** A linear expression takes well below 1 ms for the long text. */
const QUICK_MS = 8;
/** Between lengths, linear cost grows by 4 and quadratic cost by 16. */
const MAX_GROWTH = 8;
const MIN_ROUNDS = 2;
const MAX_ROUNDS = 8;
/** An ending that no expression matches. */
const ENDING = '\n\0';

/** @returns undefined, or why the expression may not be linear */
function staticFault({ source, flags }: FoundExpression): string | undefined {
  const literal = { source, flags };
  const within = analyse(literal, { assumeRejectingSuffix: true, reportTypes: { Move: false }, maxReports: 1 });
  // A sticky expression is not moved across its text.
  const moved = analyse(literal, {
    reportTypes: { Trade: false, Self: false, Move: !flags.includes('y') },
    maxReports: 1,
  });
  const fault = within.reports[0] ?? moved.reports[0];
  return fault && `${fault.type} of ${fault.character.literal.source}`;
}

/** @returns undefined, or the text on which the expression is slow */
function measuredFault({ source, flags }: FoundExpression): string | undefined {
  const expression = new RegExp(source, flags);
  for (const { opening, unit } of pumpsOf(source, flags)) {
    const costMs = (chars: number) =>
      readMs(expression, opening + unit.repeat(Math.ceil(chars / unit.length)) + ENDING);
    for (const chars of [SHORT_CHARS, LONG_CHARS])
      if (costMs(chars * TIMES) > QUICK_MS && growsTooMuch(costMs, chars))
        return `${JSON.stringify([opening, unit])} costs more than its length from ${chars} characters on`;
  }
  return undefined;
}

/** Compares the least costs of several rounds, because other work only adds to a cost. The first rounds also compile. */
function growsTooMuch(costMs: (chars: number) => number, chars: number): boolean {
  let [shortMs, longMs] = [Infinity, Infinity];
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    [shortMs, longMs] = [Math.min(shortMs, costMs(chars)), Math.min(longMs, costMs(chars * TIMES))];
    if (longMs <= QUICK_MS) return false;
    if (round >= MIN_ROUNDS && longMs > MAX_GROWTH * shortMs) return true;
  }
  return false;
}

/** CPU time of reading a text to its end, even if a match is found. */
function readMs(expression: RegExp, text: string): number {
  const before = process.cpuUsage();
  text.replace(expression, '');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function faultsOf(all: readonly FoundExpression[], judge: (found: FoundExpression) => string | undefined): string[] {
  const judged = new Map<string, string | undefined>();
  return all.flatMap((found) => {
    const key = `${found.source}/${found.flags}`;
    if (!judged.has(key)) judged.set(key, judge(found));
    const fault = judged.get(key);
    return fault === undefined ? [] : [`${found.place} ${fault}`];
  });
}

describe('regular expressions of src [hostile-text]', () => {
  const expressions = sourceFiles().flatMap(expressionsIn);

  test('are linear by static analysis', () => {
    expect(expressions.length).toBeGreaterThan(530);
    expect(faultsOf(expressions, staticFault)).toEqual([]);
  });

  test('are fast for texts made of their own repetitions', () => {
    expect(faultsOf(everyNth(expressions, 4), measuredFault)).toEqual([]);
  });
});

test('the build leaves expressions as literals, which are compiled only once', () => {
  const built = readdirSync('dist-modules', { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:bot|cli|service|shared)\/.*\.m?js$/.test(path))
    .map((path) => [path, readFileSync(join('dist-modules', path), 'utf8')] as const);
  expect(built.length).toBeGreaterThan(300);
  expect(built.filter(([, code]) => /new RegExp\("[^"]/.test(code)).map(([path]) => path)).toEqual([]);
});

describe('the check of regular expressions', () => {
  test.each([
    [String.raw`^\|[^\n]*\n\|[ :|-]+\|$`, 'm'],
    [String.raw`<head(?:\s[^>]*)?>`, 'i'],
    [String.raw`^(.*)\/src\/(.*\.ts)$`, ''],
    [String.raw`^\[(\d{1,3})\] [^\n]*\n((?:>[^\n]*(?:\n|$))+)`, 'gm'],
    [String.raw`\/+$`, ''],
  ])('finds /%s/%s', (source, flags) => {
    expect(measuredFault({ place: '', source, flags })).toEqual(expect.any(String));
  });

  test('finds exponential expressions by static analysis', () => {
    expect(staticFault({ place: '', source: '^(?:a+)+$', flags: '' })).toEqual(expect.any(String));
  });

  test.each([
    [String.raw`(?<!\/)\/+$`, ''],
    [String.raw`^\S+$`, ''],
    [String.raw`[^\n]+`, 'g'],
  ])('accepts /%s/%s', (source, flags) => {
    const found = { place: '', source, flags };
    expect([staticFault(found), measuredFault(found)]).toEqual([undefined, undefined]);
  });
});
