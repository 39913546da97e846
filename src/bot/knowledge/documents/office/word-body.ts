import { markdownTable, MAX_COLUMNS } from '../text/markdown-table.ts';
import type { Sections } from '../text/sections.ts';
import type { Numbering } from './numbering.ts';
import { isOn } from './package.ts';
import { attributeOf, type XmlListener } from './read-xml.ts';
import type { WordStyle } from './word-styles.ts';

interface Paragraph {
  text: string;
  style: WordStyle;
  numId?: string;
  numDepth?: number;
}

interface Table {
  rows: string[][];
  cell: string[];
  /** Number of columns that the cell spans. */
  span: number;
}

export interface WordBodyOptions {
  sections: Sections;
  styles: ReadonlyMap<string, WordStyle>;
  numbering: Numbering;
  /** The text of a footnote or endnote. */
  noteOf(id: string): string | undefined;
  /** Called for each image with its relationship id. @returns the text to insert at this position */
  onPicture(id: string): string;
  isFull(): boolean;
}

/** Longer paragraphs were not written by a person. */
const MAX_PARAGRAPH_CHARS = 500_000;
/** Longer tables are cut in the output. */
const MAX_TABLE_ROWS = 20_000;
/** Deleted text, field instructions and hidden runs, which Word does not show either. */
const UNSHOWN = new Set(['delText', 'instrText', 'delInstrText', 'moveFrom', 'Fallback', 'rPrChange', 'pPrChange']);

/** Receives the XML events of a Word document's body and emits its paragraphs and tables. */
export function createWordBody(options: WordBodyOptions): XmlListener & { endNotes(): void } {
  const { sections, styles, numbering } = options;
  const paragraphs: Paragraph[] = [];
  const tables: Table[] = [];
  const notes: string[] = [];
  let unshownDepth = 0;
  let isText = false;
  let isHidden = false;
  let isRunProperties = false;
  let wasPoint = false;

  const put = (text: string) => {
    const paragraph = paragraphs.at(-1);
    if (paragraph && unshownDepth === 0 && !isHidden && paragraph.text.length < MAX_PARAGRAPH_CHARS)
      paragraph.text += text;
  };

  const endParagraph = ({ text, style, numId = style.numId, numDepth = style.numDepth }: Paragraph) => {
    const words = text.trim();
    const point =
      numId === undefined || numId === '0' || words === '' ? undefined : numbering.next(numId, numDepth ?? 0);
    const said = point === undefined ? words : `${point} ${words}`;
    const table = tables.at(-1);
    const outer = paragraphs.at(-1);
    // A text box has its own paragraph inside the outer one.
    if (outer) outer.text += said === '' ? '' : `\n${said}\n`;
    else if (table) table.cell.push(said);
    else if (style.headingLevel !== undefined && words !== '') sections.heading(style.headingLevel, said);
    else {
      const indent = point === '-' ? '  '.repeat(Math.min(numDepth ?? 0, 8)) : '';
      sections.block(indent + said, wasPoint && point !== undefined ? '\n' : '\n\n');
    }
    wasPoint = point !== undefined;
  };

  const endTable = ({ rows }: Table) => {
    const outer = tables.at(-1);
    if (outer) outer.cell.push(rows.map((row) => row.filter((cell) => cell !== '').join(', ')).join('; '));
    else sections.block(isLayout(rows) ? rows.flat().join('\n\n') : markdownTable(rows));
  };

  return {
    open(name, attributes) {
      if (UNSHOWN.has(name)) unshownDepth += 1;
      const paragraph = paragraphs.at(-1);
      const table = tables.at(-1);
      const value = attributeOf(attributes, 'val');
      if (name === 'p') paragraphs.push({ text: '', style: {} });
      else if (name === 'tbl') tables.push({ rows: [], cell: [], span: 1 });
      else if (name === 'tr' && table) table.rows.push([]);
      else if (name === 'tc' && table) Object.assign(table, { cell: [], span: 1 });
      else if (name === 'gridSpan' && table) table.span = Math.min(Math.max(Number(value) || 1, 1), MAX_COLUMNS);
      else if (name === 't') isText = true;
      else if (name === 'r') isHidden = false;
      else if (name === 'rPr') isRunProperties = paragraph !== undefined;
      else if (name === 'vanish' && isRunProperties) isHidden = isOn(attributes);
      else if (name === 'tab') put(isRunProperties ? '' : '\t');
      else if (name === 'br' || name === 'cr') put('\n');
      else if (name === 'noBreakHyphen') put('-');
      else if (name === 'pStyle' && paragraph && value !== undefined) paragraph.style = styles.get(value) ?? {};
      else if (name === 'outlineLvl' && paragraph && Number(value) < 9)
        paragraph.style = { ...paragraph.style, headingLevel: Number(value) + 1 };
      else if (name === 'numId' && paragraph) paragraph.numId = value;
      else if (name === 'ilvl' && paragraph) paragraph.numDepth = Number(value);
      else if (name === 'blip' && unshownDepth === 0 && !isHidden)
        put(options.onPicture(attributeOf(attributes, 'embed') ?? ''));
      else if (name === 'footnoteReference' || name === 'endnoteReference') {
        const note = options.noteOf(attributeOf(attributes, 'id') ?? '');
        if (note !== undefined && note !== '') put(`[^${notes.push(note)}]`);
      }
    },
    close(name) {
      if (UNSHOWN.has(name)) unshownDepth -= 1;
      const table = tables.at(-1);
      if (name === 't') isText = false;
      else if (name === 'rPr') isRunProperties = false;
      else if (name === 'r') isHidden = false;
      else if (name === 'p') {
        const paragraph = paragraphs.pop();
        if (paragraph) endParagraph(paragraph);
      } else if (name === 'tc' && table) {
        const row = table.rows.at(-1);
        row?.push(table.cell.filter((text) => text !== '').join(' '), ...Array<string>(table.span - 1).fill(''));
      } else if (name === 'tbl') {
        const ended = tables.pop();
        if (ended) endTable(ended);
      } else if (name === 'tr' && table && table.rows.length > MAX_TABLE_ROWS) table.rows.length = MAX_TABLE_ROWS;
    },
    text(text) {
      if (isText) put(text);
    },
    isDone: () => options.isFull(),
    endNotes() {
      if (notes.length > 0) sections.block(notes.map((note, index) => `[^${index + 1}]: ${note}`).join('\n'));
    },
  };
}

/** A single cell around all content, as in forms, is layout and not a table. */
function isLayout(rows: readonly string[][]): boolean {
  return rows.length <= 1 && rows.flat().length <= 1;
}
