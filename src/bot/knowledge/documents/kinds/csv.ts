import type { ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { decodeText } from '../text/decode-text.ts';
import { TableParts } from '../text/table-parts.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const SAMPLE_CHARS = 20_000;
const MAX_CELL_CHARS = 2_000;
const MAX_CELLS_OF_ROW = 16_384;

/** Reads delimiter-separated values and detects the delimiter. */
export async function readCsv(bytes: Buffer): Promise<ReadDocument> {
  const text = decodeText(bytes).replace(/^sep=.\n/, '');
  const gathering = new TextCollector();
  const table = new TableParts(gathering);
  for (const row of rowsOf(text, delimiterOf(text))) {
    table.add(new Map(row.entries()));
    if (gathering.isFull()) break;
  }
  table.end(gathering.isFull());
  return gathering.result();
}

/** The character that occurs equally often in most of the first lines. */
export function delimiterOf(text: string): string {
  const lines = text
    .slice(0, SAMPLE_CHARS)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 20);
  const scores = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.replace(/"[^"]*"/g, '').split(delimiter).length - 1);
    const first = counts[0] ?? 0;
    return { delimiter, score: first === 0 ? 0 : counts.filter((count) => count === first).length * 1_000 + first };
  });
  return scores.reduce((best, one) => (one.score > best.score ? one : best)).delimiter;
}

/** Rows of cells. A quoted cell may contain delimiters, line ends and doubled quotes. */
function* rowsOf(text: string, delimiter: string): Generator<string[]> {
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    const endQuote = text[at] === '"' ? endOfQuotes(text, at + 1) : -1;
    if (endQuote >= 0) {
      cell = text.slice(at + 1, Math.min(endQuote, at + 1 + MAX_CELL_CHARS)).replaceAll('""', '"');
      at = endQuote + 1;
    }
    const end = endOfCell(text, at, delimiter);
    cell += text.slice(at, Math.min(end, at + MAX_CELL_CHARS));
    if (row.length < MAX_CELLS_OF_ROW) row.push(cell);
    at = end + 1;
    if (end < text.length && text[end] === delimiter) {
      if (at === text.length) row.push('');
      continue;
    }
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/** @returns -1 if the cell is not quoted, but only begins with a quotation mark */
function endOfQuotes(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function endOfCell(text: string, start: number, delimiter: string): number {
  for (let at = start; at < text.length; at += 1) if (text[at] === delimiter || text[at] === '\n') return at;
  return text.length;
}
