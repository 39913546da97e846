import type { TextCollector } from '../text-collector.ts';
import { markdownTable, MAX_COLUMNS } from './markdown-table.ts';

/** Rows per part. Each part repeats the table header, so that it can be understood alone. */
const ROWS_OF_PART = 200;
/** Maximum single-cell lines above a table, such as a title or a date. */
const MAX_LINES_ABOVE = 20;

/** Cells by zero-based column. Empty cells may be absent. */
export type Row = ReadonlyMap<number, string>;

/** Collects the rows of a table and emits them in parts. Leaves out empty columns. */
export class TableParts {
  readonly #gathering: TextCollector;
  readonly #name: string | undefined;
  readonly #above: string[] = [];
  readonly #columns = new Set<number>();
  #head: Row | undefined;
  #rows: Row[] = [];
  /** Rows without the header. */
  #count = 0;

  /** @param name of the table; the row numbers are appended to it in labels */
  constructor(gathering: TextCollector, name?: string) {
    this.#gathering = gathering;
    this.#name = name;
  }

  add(row: Row): void {
    const filled = new Map([...row].filter(([, text]) => text.trim() !== ''));
    if (filled.size === 0) return;
    if (this.#head === undefined && filled.size === 1 && this.#above.length < MAX_LINES_ABOVE) {
      this.#above.push(...filled.values());
      return;
    }
    for (const column of filled.keys()) this.#columns.add(column);
    if (this.#head === undefined) {
      this.#head = filled;
      return;
    }
    if (this.#rows.length === ROWS_OF_PART) this.#flush();
    this.#rows.push(filled);
    this.#count += 1;
  }

  /** Ends the table. `isCut` means that its remaining rows are not read. */
  end(isCut = false): void {
    this.#flush(isCut);
    if (isCut) this.#gathering.cut();
  }

  #flush(isCut = false): void {
    if (this.#head === undefined && this.#above.length === 0) return;
    const first = this.#count - this.#rows.length + 1;
    const isWhole = first === 1 && this.#rows.length < ROWS_OF_PART && !isCut;
    const rows = isWhole || this.#count === 0 ? undefined : `rows ${first}–${this.#count}`;
    const label = [this.#name, rows].filter((part) => part !== undefined).join(', ');
    this.#gathering.add(this.#write(), label === '' ? undefined : label);
    this.#rows = [];
  }

  #write(): string {
    const columns = [...this.#columns].toSorted((one, other) => one - other);
    const shown = columns.slice(0, MAX_COLUMNS);
    const rows = this.#head === undefined ? [] : [this.#head, ...this.#rows];
    const left = columns.length - shown.length;
    const pieces = [
      ...this.#above.splice(0),
      markdownTable(rows.map((row) => shown.map((column) => row.get(column) ?? ''))),
      left > 0 ? `(${left} more columns are not shown.)` : '',
    ];
    return pieces.filter((piece) => piece !== '').join('\n\n');
  }
}
