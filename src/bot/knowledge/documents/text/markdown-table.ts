/** Wider tables are not readable. */
export const MAX_COLUMNS = 100;
const MAX_CELL_CHARS = 2_000;

/** Renders rows as a Markdown table with the first row as the header. Rows may differ in length. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = Math.min(MAX_COLUMNS, Math.max(0, ...rows.map(({ length }) => length)));
  const [head, ...body] = rows;
  if (head === undefined || width === 0) return '';
  const line = (row: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, index) => tableCell(row[index] ?? '')).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

function tableCell(text: string): string {
  return text.slice(0, MAX_CELL_CHARS).replace(/\s+/g, ' ').trim().replaceAll('|', '\\|');
}
