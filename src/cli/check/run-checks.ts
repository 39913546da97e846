import { SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { TooSlowError, withTimeout } from '../../shared/with-timeout.ts';
import { columnsOf, padColumns, translatorTo, type Translate } from '../terminal/translate.ts';

/** The check of one part. Its lines contain no secrets. */
export interface Check {
  /** Name of the line if the check itself fails. */
  name: string;
  run(): Promise<CheckResult[]>;
}

/** Where lines are written, for example `process.stdout`. Coloured on a terminal. */
export interface CheckOutput {
  write(text: string): unknown;
  isTTY?: boolean;
  /** Prints one JSON object instead of lines. */
  isJson?: boolean;
  /** Defaults to English. JSON is always English. */
  translate?: Translate;
}

/** How a line is shown. */
export interface LineLook {
  nameColumns: number;
  isColoured: boolean;
  translate: Translate;
}

const ENGLISH = translatorTo('en');
/** The longest verdict in English, `warning`. */
const VERDICT_COLUMNS = 7;

const CHECK_LIMIT_MS = 45 * SECOND_MS;
const COLOURS = { ok: '\u001b[32m', hint: '\u001b[36m', warning: '\u001b[33m', fault: '\u001b[31m' } as const;
const PLAIN = '\u001b[0m';
const DIM = '\u001b[2m';

/**
 * Runs all checks in parallel and prints their lines in the given order, then a summary.
 * @returns the exit code: 1 if any line is a fault, else 0
 */
export async function runChecks(checks: readonly Check[], output: CheckOutput): Promise<0 | 1> {
  const results = (await Promise.all(checks.map(runOne))).flat();
  if (output.isJson === true) output.write(asJson(results));
  else {
    const look = lookOf(
      output,
      Math.max(0, ...results.map(({ name }) => columnsOf((output.translate ?? ENGLISH)(name)))),
    );
    for (const result of results) output.write(`${checkLine(result, look)}\n`);
    output.write(`\n${look.translate(summaryLine(countOf(results)))}\n`);
  }
  return countOf(results).fault === 0 ? 0 : 1;
}

type CheckCount = Readonly<Record<CheckResult['verdict'], number>>;

function countOf(results: readonly CheckResult[]): CheckCount {
  const count = { ok: 0, hint: 0, warning: 0, fault: 0 };
  for (const { verdict } of results) count[verdict] += 1;
  return count;
}

function summaryLine({ ok, hint, warning, fault }: CheckCount): string {
  const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
  const hints = hint === 0 ? [] : [counted(hint, 'hint')];
  return [`${counted(ok, 'check')} passed`, ...hints, counted(warning, 'warning'), `${fault} to fix`].join(', ');
}

/** The results as one JSON object, with the same words as in the lines. */
export function asJson(results: readonly CheckResult[]): string {
  const { ok: passed, hint: hints, warning: warnings, fault: faults } = countOf(results);
  return `${JSON.stringify({ passed, hints, warnings, faults, checks: results }, undefined, 2)}\n`;
}

/** Runs one check within its time limit. Never throws. */
export async function runOne({ name, run }: Check): Promise<CheckResult[]> {
  try {
    return await withTimeout(run(), CHECK_LIMIT_MS);
  } catch (thrown) {
    const error = asError(thrown);
    const detail = error instanceof TooSlowError ? 'no result in time' : `the check itself failed (${error.name})`;
    return [{ name, verdict: 'fault', detail }];
  }
}

/** How lines are shown on an output. */
export function lookOf({ isTTY, translate = ENGLISH }: CheckOutput, nameColumns: number): LineLook {
  return { nameColumns, isColoured: isTTY === true, translate };
}

/** Formats one finding for the terminal: verdict, name, detail and next step. */
export function checkLine(
  { name, verdict, detail, nextStep }: CheckResult,
  { nameColumns, isColoured, translate }: LineLook,
): string {
  const paint = (colour: string, text: string) => (isColoured ? `${colour}${text}${PLAIN}` : text);
  const next = nextStep === undefined ? '' : ` ${paint(DIM, `→ ${translate(nextStep)}`)}`;
  const shown = padColumns(translate(verdict), VERDICT_COLUMNS);
  return `${paint(COLOURS[verdict], shown)}  ${padColumns(translate(name), nameColumns)}  ${translate(detail)}${next}`;
}
