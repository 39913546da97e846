// The table of mutants: by rule, a list of rows `[target, mutation, test]`, or the reason why the rule has none.
import { readFileSync } from 'node:fs';

const TABLE = 'test/mutants/mutants.json';

/** @returns the rows, and the reasons by rule */
export function readRows(table = JSON.parse(readFileSync(TABLE, 'utf8'))) {
  const rows = [];
  const reasons = new Map();
  for (const [rule, value] of Object.entries(table)) {
    if (typeof value === 'string') reasons.set(rule, value);
    else for (const [target, mutation, test] of value) rows.push({ rule, target, mutation, test });
  }
  return { rows, reasons };
}
