import type { StoredFeedback } from './read-feedback.ts';

const COLUMNS = ['time', 'platform', 'answer', 'verdict', 'reasons', 'model', 'rule', 'rater', 'words'] as const;

/** Header line of the table. Starts with a byte order mark, so that spreadsheets recognise UTF-8. */
export const CSV_HEAD = `\uFEFF${COLUMNS.join(',')}\r\n`;

/** One line of the table (RFC 4180). Times are UTC; text that a spreadsheet would run as a formula is escaped. */
export function csvLine({ atMs, reasons, ...rest }: StoredFeedback): string {
  const row = { ...rest, time: new Date(atMs).toISOString(), reasons: reasons.join(' ') };
  return `${COLUMNS.map((name) => cell(row[name])).join(',')}\r\n`;
}

/** Allows leading whitespace, because spreadsheets trim it. */
const FORMULA = /^[\s\uFEFF]*[=+\-@\t\r＝＋－＠]/u;

function cell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
