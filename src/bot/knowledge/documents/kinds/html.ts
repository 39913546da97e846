import { Parser } from 'htmlparser2';
import { DocumentError, type ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { decodeText } from '../text/decode-text.ts';
import { markdownTable } from '../text/markdown-table.ts';
import { Sections } from '../text/sections.ts';

/** Elements whose content a browser does not show as text. */
const UNSHOWN = new Set(
  'script style template noscript iframe object embed svg math canvas audio video select datalist head'.split(' '),
);
/** Also leaves out what is the same on every page of a site. */
const UNSHOWN_OF_SITE = new Set([...UNSHOWN, ...'nav footer aside form button select dialog'.split(' ')]);
const BLOCKS = new Set(
  (
    'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);
const HIDING_STYLE =
  /(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(px|pt|em|%)?\s*(;|$)|opacity\s*:\s*0\s*(;|$))/i;
const CHARSET = /<meta[^>]{0,200}charset\s*=\s*(?:["']\s*)?([\w-]+)/i;
const HEAD_BYTES = 2_048;
/** Generated pages can nest several hundred levels deep. */
const MAX_DEPTH = 2_000;
const PIECE_CHARS = 65_536;
/** A cell with more text is part of the page's layout. */
const MAX_CELL_CHARS = 2_000;

interface Opened {
  name: string;
  isUnshown: boolean;
}

/** Reads a page that was sent as a file. @throws DocumentError `too_heavy` */
export async function readHtml(bytes: Buffer): Promise<ReadDocument> {
  const declared = CHARSET.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1];
  return readHtmlText(decodeText(bytes, declared), UNSHOWN);
}

/** Reads a page of a site for a search index, without navigation. @throws DocumentError `too_heavy` */
export function readSitePage(html: string): { title?: string; text: string } {
  const { title, parts } = readHtmlText(html, UNSHOWN_OF_SITE);
  return { title, text: parts.map(({ text }) => text).join('\n\n') };
}

/**
 * Reads the visible content of a page: headings, paragraphs, lists and tables. Leaves out scripts, styles and hidden
 * elements. Runs and fetches nothing. The limit of nesting keeps the cost linear.
 */
function readHtmlText(text: string, unshown: ReadonlySet<string>): ReadDocument {
  const gathering = new TextCollector();
  const reading = new HtmlReading(new Sections(gathering), unshown);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reading.open(name, attributes),
      onclosetag: (name) => reading.close(name),
      ontext: (piece) => reading.text(piece),
    },
    { decodeEntities: true },
  );
  for (let at = 0; at < text.length && !gathering.isFull(); at += PIECE_CHARS)
    parser.write(text.slice(at, at + PIECE_CHARS));
  parser.end();
  const title = reading.end();
  if (gathering.isFull()) gathering.cut();
  return gathering.result({ title });
}

class HtmlReading {
  readonly #sections: Sections;
  readonly #unshownNames: ReadonlySet<string>;
  readonly #opened: Opened[] = [];
  readonly #lists: { isNumbered: boolean; count: number }[] = [];
  readonly #tables: { rows: string[][] }[] = [];
  #unshown = 0;
  #preDepth = 0;
  #heading: number | undefined;
  #isTitle = false;
  #title = '';
  /** Text since the end of the last block. */
  #line = '';
  #point = '';
  #wasPoint = false;

  constructor(sections: Sections, unshownNames: ReadonlySet<string>) {
    this.#sections = sections;
    this.#unshownNames = unshownNames;
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'title') this.#isTitle = this.#title === '';
    const isHidden = 'hidden' in attributes || HIDING_STYLE.test(attributes['style'] ?? '');
    const isUnshown = this.#unshownNames.has(name) || isHidden;
    if (this.#opened.length >= MAX_DEPTH) throw new DocumentError('too_heavy', 'The page nests too deeply');
    this.#opened.push({ name, isUnshown });
    if (isUnshown) this.#unshown += 1;
    if (this.#unshown > 0) return;
    if (name === 'br') this.#line += this.#preDepth > 0 ? '\n' : ' \n';
    else if (name === 'img') this.#line += attributes['alt'] ? ` [picture: ${attributes['alt']}] ` : '';
    else if (name === 'td' || name === 'th') this.#line = '';
    else if (/^h[1-6]$/.test(name)) this.#begin(() => (this.#heading = Number(name[1])));
    else if (BLOCKS.has(name)) this.#begin(() => this.#openBlock(name));
  }

  close(name: string): void {
    const last = this.#opened.findLastIndex((opened) => opened.name === name);
    for (const { isUnshown } of last < 0 ? [] : this.#opened.splice(last)) if (isUnshown) this.#unshown -= 1;
    if (name === 'title') this.#isTitle = false;
    if (this.#unshown > 0) return;
    if (name === 'td' || name === 'th') {
      this.#tables.at(-1)?.rows.at(-1)?.push(this.#taken());
      return;
    }
    if (!BLOCKS.has(name) && !/^h[1-6]$/.test(name)) return;
    this.#flush();
    if (name === 'pre' && this.#preDepth > 0) this.#preDepth -= 1;
    if (name === 'ul' || name === 'ol') this.#lists.pop();
    if (name === 'table') this.#endTable();
    this.#heading = undefined;
  }

  text(piece: string): void {
    if (this.#isTitle) this.#title += piece.slice(0, 300);
    else if (this.#unshown === 0) this.#line += piece;
  }

  /** @returns the page's title */
  end(): string | undefined {
    this.#flush();
    while (this.#tables.length > 0) {
      this.#tables.at(-1)?.rows.at(-1)?.push(this.#taken());
      this.#endTable();
    }
    this.#sections.end();
    return this.#title.trim() === '' ? this.#sections.topHeading : this.#title;
  }

  #begin(next: () => void): void {
    this.#flush();
    next();
  }

  #openBlock(name: string): void {
    if (name === 'ul' || name === 'ol') this.#lists.push({ isNumbered: name === 'ol', count: 0 });
    else if (name === 'pre') this.#preDepth += 1;
    else if (name === 'table') this.#tables.push({ rows: [] });
    else if (name === 'tr') this.#tables.at(-1)?.rows.push([]);
    else if (name === 'li') {
      const list = this.#lists.at(-1);
      if (list) list.count += 1;
      const sign = list?.isNumbered === true ? `${list.count}.` : '-';
      this.#point = `${'  '.repeat(Math.min(Math.max(this.#lists.length - 1, 0), 8))}${sign} `;
    }
  }

  #taken(): string {
    const said = this.#line;
    this.#line = '';
    return this.#preDepth > 0
      ? said
      : said
          .replace(/[^\S\n]+/g, ' ')
          .replace(/ ?\n ?/g, (end) => (end === ' \n ' ? '\n' : ' '))
          .trim();
  }

  #flush(): void {
    // A table cell is one text, including its paragraphs.
    if (this.#tables.length > 0) {
      if (this.#line !== '') this.#line += ' ';
      return;
    }
    const said = this.#taken();
    if (said.trim() === '') return;
    if (this.#heading !== undefined) this.#sections.heading(this.#heading, said.replace(/\s+/g, ' '));
    else if (this.#preDepth > 0) this.#sections.block(`\`\`\`\n${said.replace(/^\n|\n$/g, '')}\n\`\`\``);
    else {
      this.#sections.block(this.#point + said, this.#point !== '' && this.#wasPoint ? '\n' : '\n\n');
      this.#wasPoint = this.#point !== '';
      this.#point = '';
    }
  }

  #endTable(): void {
    const rows = this.#tables.pop()?.rows ?? [];
    const outer = this.#tables.at(-1);
    this.#line = '';
    const filled = rows.filter((row) => row.some((cell) => cell !== ''));
    this.#wasPoint = false;
    if (outer) this.#line += filled.map((row) => row.join(', ')).join('; ');
    else {
      const isLayout = filled.length === 1 || filled.some((row) => row.some((cell) => cell.length > MAX_CELL_CHARS));
      this.#sections.block(isLayout ? filled.flat().join('\n\n') : markdownTable(filled));
    }
  }
}
