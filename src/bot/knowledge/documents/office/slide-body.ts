import { markdownTable } from '../text/markdown-table.ts';
import { attributeOf, type XmlListener } from './read-xml.ts';

interface Paragraph {
  text: string;
  level: number;
  /** Undefined if the paragraph takes the layout's bullet. */
  point?: 'none' | 'bullet' | 'number';
}

interface Shape {
  isHidden: boolean;
  isPicture: boolean;
  /** What the layout reserves the shape for, for example `title`. */
  placeholder?: string;
  lines: string[];
  /** Numbers of the last numbered paragraphs by level. */
  numbers: number[];
}

interface Table {
  rows: string[][];
  cell: string[];
}

export interface SlideBodyOptions {
  /** Only shapes that the layout reserves for this are read. Defaults to all but headers and footers. */
  placeholder?: string;
  /** Called for each image with its relationship id. @returns the text to insert at this position */
  onPicture?(id: string): string;
  /** Called for each SmartArt graphic with the relationship id of its data. */
  onDiagram?(id: string): void;
  isFull(): boolean;
}

export interface SlideText {
  title: string;
  /** Markdown, without the title. */
  text: string;
  /** The slide is left out of the presentation. */
  isHidden: boolean;
}

const SHAPES = new Set(['sp', 'pic', 'graphicFrame', 'grpSp', 'cxnSp']);
const TITLES = new Set(['title', 'ctrTitle']);
/** Repeated on every slide. */
const REPEATED = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg']);
/** Longer slides were not written by a person. */
const MAX_SLIDE_CHARS = 200_000;
const MAX_TABLE_ROWS = 2_000;
const MAX_LEVEL = 8;

/** Receives the XML events of a slide, its notes or a SmartArt graphic. Shapes are read in their order on the slide. */
export function createSlideBody(options: SlideBodyOptions): XmlListener & { result(): SlideText } {
  // The paragraphs of a SmartArt graphic are outside of shapes.
  const root: Shape = { isHidden: false, isPicture: false, placeholder: 'body', lines: [], numbers: [] };
  const shapes: Shape[] = [root];
  const tables: Table[] = [];
  const titles: string[] = [];
  const blocks: string[] = [];
  let paragraph: Paragraph | undefined;
  let isText = false;
  let isHidden = false;
  let unshownDepth = 0;
  let leftChars = MAX_SLIDE_CHARS;

  const isShown = () => {
    const placeholder = shapes.at(-1)?.placeholder;
    const isWanted =
      options.placeholder === undefined
        ? placeholder === undefined || !REPEATED.has(placeholder)
        : placeholder === options.placeholder;
    return unshownDepth === 0 && isWanted;
  };
  const put = (text: string) => {
    if (!paragraph || !isShown() || leftChars <= 0) return;
    leftChars -= text.length;
    paragraph.text += text;
  };
  const endParagraph = ({ text, level, point }: Paragraph) => {
    const words = text.trim();
    if (words === '') return;
    const table = tables.at(-1);
    const shape = shapes.at(-1) ?? root;
    if (table) table.cell.push(words);
    else if (shape.placeholder !== undefined && TITLES.has(shape.placeholder)) titles.push(words);
    else shape.lines.push(pointOf(shape, level, point) + words);
  };
  const openShape = (name: string) =>
    shapes.push({ isHidden: false, isPicture: name === 'pic', lines: [], numbers: [] });
  const endShape = ({ isHidden: wasHidden, lines }: Shape) => {
    if (wasHidden) unshownDepth -= 1;
    if (lines.length > 0) blocks.push(lines.join('\n'));
  };

  return {
    open(name, attributes) {
      const shape = shapes.at(-1);
      const table = tables.at(-1);
      if (name === 'Fallback') unshownDepth += 1;
      else if (name === 'sld') isHidden = isFalse(attributes['show']);
      else if (SHAPES.has(name)) openShape(name);
      else if (name === 'cNvPr' && shape && !shape.isHidden && isTrue(attributes['hidden'])) {
        shape.isHidden = true;
        unshownDepth += 1;
      } else if (name === 'ph' && shape) shape.placeholder = attributes['type'] ?? 'body';
      else if (name === 'p') paragraph = { text: '', level: 0 };
      else if (name === 'pPr' && paragraph) paragraph.level = Math.min(Number(attributes['lvl']) || 0, MAX_LEVEL);
      else if (name === 'buNone' && paragraph) paragraph.point = 'none';
      else if (name === 'buChar' && paragraph) paragraph.point = 'bullet';
      else if (name === 'buAutoNum' && paragraph) paragraph.point = 'number';
      else if (name === 't') isText = true;
      else if (name === 'br') put('\n');
      else if (name === 'tbl') tables.push({ rows: [], cell: [] });
      else if (name === 'tr' && table) table.rows.push([]);
      else if (name === 'tc' && table) table.cell = [];
      else if (name === 'blip' && shape?.isPicture === true && isShown())
        shape.lines.push(options.onPicture?.(attributeOf(attributes, 'embed') ?? '') ?? '');
      else if (name === 'relIds' && isShown()) options.onDiagram?.(attributeOf(attributes, 'dm') ?? '');
    },
    close(name) {
      const table = tables.at(-1);
      if (name === 'Fallback') unshownDepth -= 1;
      else if (name === 't') isText = false;
      else if (name === 'p') {
        if (paragraph) endParagraph(paragraph);
        paragraph = undefined;
      } else if (name === 'tc' && table) {
        // Cells that a merged cell covers follow as cells without text.
        if (table.rows.length <= MAX_TABLE_ROWS) table.rows.at(-1)?.push(table.cell.join(' '));
      } else if (name === 'tbl') {
        const rows = tables.pop()?.rows.slice(0, MAX_TABLE_ROWS) ?? [];
        if (rows.some((row) => row.some((cell) => cell !== ''))) blocks.push(markdownTable(rows));
      } else if (SHAPES.has(name)) {
        const shape = shapes.pop();
        if (shape) endShape(shape);
      }
    },
    text(text) {
      if (isText) put(text);
    },
    isDone: () => options.isFull(),
    result: () => ({
      title: titles.join(' ').replace(/\s+/g, ' '),
      text: [...blocks, root.lines.join('\n')].filter((block) => block.trim() !== '').join('\n\n'),
      isHidden,
    }),
  };
}

function pointOf(shape: Shape, level: number, point: Paragraph['point']): string {
  const indent = '  '.repeat(level);
  if (point === 'number') {
    const number = (shape.numbers[level] ?? 0) + 1;
    shape.numbers.length = level + 1;
    shape.numbers[level] = number;
    return `${indent}${number}. `;
  }
  shape.numbers.length = Math.min(shape.numbers.length, level);
  // Layouts give the paragraphs of a body a bullet; other shapes have none.
  const isPoint = point === undefined ? shape.placeholder === 'body' || level > 0 : point === 'bullet';
  return isPoint ? `${indent}- ` : '';
}

function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

function isFalse(value: string | undefined): boolean {
  return value === '0' || value === 'false';
}
