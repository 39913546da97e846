import { DocumentError, type ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { readCellFormats, showNumber, showText } from '../office/cell-formats.ts';
import type { NumberFormat } from '../office/number-format.ts';
import { addPicture, findRelation, hasMacros, readRelations, readTitle } from '../office/package.ts';
import { readXml } from '../office/read-xml.ts';
import type { Zip } from '../office/zip.ts';
import { TableParts } from '../text/table-parts.ts';

interface Sheet {
  name: string;
  part: string;
}

const MAX_SHEETS = 200;
/** Total length of the shared strings table. */
const MAX_SHARED_CHARS = 16_000_000;
const MAX_CELL_CHARS = 2_000;
/** Excel's last column, XFD. */
const LAST_COLUMN = 16_383;
/** Maximum number of filled cells in all sheets. */
const MAX_CELLS = 1_000_000;

/**
 * Reads the visible sheets of a workbook (.xlsx) as tables, and names the hidden ones. Formulas yield the value that Excel last stored. Nothing is
 * evaluated, macros are not read and external references are not fetched.
 */
export async function readExcel(zip: Zip, main: string): Promise<ReadDocument> {
  const relations = await readRelations(zip, main);
  const gathering = new TextCollector();
  const { sheets, hidden, is1904 } = await readSheets(
    zip,
    main,
    new Map([...relations].map(([id, { target }]) => [id, target])),
  );
  const facts: CellFacts = {
    texts: await readSharedTexts(zip, findRelation(relations, 'sharedStrings')),
    formats: await readCellFormats(zip, findRelation(relations, 'styles')),
    is1904,
    leftCells: MAX_CELLS,
  };
  for (const sheet of sheets) {
    if (gathering.isFull()) break;
    await readSheet(zip, sheet, facts, gathering);
  }
  if (gathering.isFull()) gathering.cut();
  gathering.nameUnread('Hidden sheets', hidden);
  const pictures = [...zip.names].filter((name) => name.startsWith('xl/media/'));
  for (const [index, name] of pictures.entries()) await addPicture(zip, name, `picture ${index + 1}`, gathering);
  return gathering.result({ title: await readTitle(zip), hasMacros: hasMacros(zip) });
}

/** The visible sheets in workbook order, and the names of the hidden ones. */
async function readSheets(zip: Zip, main: string, targets: ReadonlyMap<string, string>) {
  const sheets: Sheet[] = [];
  const hidden: string[] = [];
  let is1904 = false;
  await readXml(zip.pieces(main), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = ['1', 'true'].includes(attributes['date1904'] ?? '');
      if (name !== 'sheet' || sheets.length + hidden.length >= MAX_SHEETS) return;
      const key = Object.keys(attributes).find((known) => known.endsWith(':id')) ?? '';
      const part = targets.get(attributes[key] ?? '');
      const sheet = attributes['name'] ?? '';
      if ((attributes['state'] ?? 'visible') !== 'visible') hidden.push(sheet);
      else if (part !== undefined) sheets.push({ name: sheet, part });
    },
  });
  return { sheets, hidden, is1904 };
}

async function readSharedTexts(zip: Zip, part: string | undefined): Promise<string[]> {
  const texts: string[] = [];
  if (part === undefined) return texts;
  let text = '';
  let isText = false;
  let soundDepth = 0;
  let leftChars = MAX_SHARED_CHARS;
  await readXml(zip.pieces(part), {
    open(name) {
      if (name === 'si') text = '';
      // `rPh` contains phonetic text, such as furigana.
      if (name === 'rPh') soundDepth += 1;
      isText = name === 't' && soundDepth === 0;
    },
    close(name) {
      isText = false;
      if (name === 'rPh') soundDepth -= 1;
      if (name !== 'si') return;
      leftChars -= text.length + 1;
      if (leftChars < 0) throw new DocumentError('too_heavy', 'The workbook has too much text');
      texts.push(text);
    },
    text(piece) {
      if (isText) text += piece.slice(0, MAX_CELL_CHARS);
    },
  });
  return texts;
}

interface CellFacts {
  texts: readonly string[];
  formats: readonly NumberFormat[];
  is1904: boolean;
  leftCells: number;
}

async function readSheet(zip: Zip, { name, part }: Sheet, facts: CellFacts, gathering: TextCollector): Promise<void> {
  const table = new TableParts(gathering, `sheet ${name}`);
  let row = new Map<number, string>();
  let column = -1;
  let cell = { type: '', style: 0, value: '', hasFormula: false };
  let isValue = false;
  const isDone = () => facts.leftCells <= 0 || gathering.isFull();
  await readXml(zip.pieces(part), {
    open(tag, { r, t, s }) {
      if (tag === 'row') {
        row = new Map();
        column = -1;
      } else if (tag === 'c') {
        column = columnOf(r) ?? column + 1;
        cell = { type: t ?? 'n', style: Number(s ?? 0), value: '', hasFormula: false };
      } else if (tag === 'f') cell.hasFormula = true;
      isValue = tag === 'v' || tag === 't';
    },
    close(tag) {
      isValue = false;
      if (tag === 'c' && column <= LAST_COLUMN) {
        const shown = showCell(cell, facts);
        if (shown !== '' && facts.leftCells > 0) {
          facts.leftCells -= 1;
          row.set(column, shown);
        }
      } else if (tag === 'row') table.add(row);
    },
    text(text) {
      if (isValue && cell.value.length < MAX_CELL_CHARS) cell.value += text.slice(0, MAX_CELL_CHARS);
    },
    isDone,
  });
  table.end(isDone());
}

function showCell(
  { type, style, value, hasFormula }: { type: string; style: number; value: string; hasFormula: boolean },
  { texts, formats, is1904 }: CellFacts,
): string {
  if (value === '') return hasFormula ? '(a formula without a value)' : '';
  const format = formats[style];
  if (type === 's') return showText(texts[Number(value)] ?? '', format);
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'n' || type === '') return showNumber(value, format, is1904);
  return type === 'str' || type === 'inlineStr' ? showText(value, format) : value;
}

/** Zero-based column of a cell reference such as `B7`. */
function columnOf(place: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(place ?? '')?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
