import type { Gathering } from '../text-collector.ts';
import { markdownTable, MOST_COLUMNS } from './markdown-table.ts';

/** So many rows are one part, each with the table's head, so that a piece of a long table is understood alone. */
const ROWS_OF_PART = 200;
/** Lines of one cell that stand above a table: its title, the date. */
const MOST_LINES_ABOVE = 20;

/** A row's cells by their column, from 0 on; empty ones may be left out. */
export type Row = ReadonlyMap<number, string>;

/** Takes a table's rows one after the other and hands them on in parts. Columns that nobody fills are left out. */
export class TableParts {
  readonly #gathering: Gathering;
  readonly #name: string | undefined;
  readonly #above: string[] = [];
  readonly #columns = new Set<number>();
  #head: Row | undefined;
  #rows: Row[] = [];
  /** Rows without the head. */
  #count = 0;

  /** @param name of the table, before the numbers of the rows */
  constructor(gathering: Gathering, name?: string) {
    this.#gathering = gathering;
    this.#name = name;
  }

  add(row: Row): void {
    const filled = new Map([...row].filter(([, text]) => text.trim() !== ''));
    if (filled.size === 0) return;
    if (this.#head === undefined && filled.size === 1 && this.#above.length < MOST_LINES_ABOVE) {
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

  /** Says that there is nothing more, or that nothing more is read. */
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
    const shown = columns.slice(0, MOST_COLUMNS);
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
