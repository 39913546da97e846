/** Begins a table, so that spreadsheets recognise UTF-8. */
export const CSV_MARK = '\uFEFF';

/** One line of a table (RFC 4180). Text that a spreadsheet would run as a formula is escaped. */
export function csvRow(values: readonly (string | number)[]): string {
  return `${values.map((value) => (typeof value === 'number' ? String(value) : cell(value))).join(',')}\r\n`;
}

/** Allows leading whitespace, because spreadsheets trim it. */
const FORMULA = /^[\s\uFEFF]*[=+\-@\t\r＝＋－＠]/u;

function cell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
