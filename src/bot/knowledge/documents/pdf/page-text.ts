import { markdownTable } from '../text/markdown-table.ts';
import type { Line } from './page-lines.ts';

/** Longer cells are text columns, not table cells. */
const LONG_CELL_CHARS = 60;

/** Writes the lines of a page. Consecutive lines with the same number of cells become a table. */
export function writePage(lines: readonly Line[]): string {
  const pieces: string[] = [];
  for (let at = 0; at < lines.length;) {
    const end = endOfTable(lines, at);
    if (end - at >= 2) {
      pieces.push(`\n${markdownTable(lines.slice(at, end))}\n`);
      at = end;
    } else {
      pieces.push((lines[at] ?? []).join('   '));
      at += 1;
    }
  }
  return pieces.join('\n').replace(/\n{3,}/g, '\n\n');
}

function endOfTable(lines: readonly Line[], start: number): number {
  const width = lines[start]?.length ?? 0;
  if (width < 2) return start;
  let end = start;
  while (lines[end]?.length === width && isRow(lines[end] ?? [])) end += 1;
  return end;
}

function isRow(line: Line): boolean {
  return line.reduce((sum, { length }) => sum + length, 0) <= LONG_CELL_CHARS * line.length;
}
