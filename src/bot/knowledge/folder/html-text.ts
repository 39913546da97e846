import { Tokenizer } from 'htmlparser2';

export interface HtmlText {
  /** Its `title`, else its first heading. */
  title?: string;
  /** Headings are marked as in Markdown. */
  text: string;
}

const UNSEEN: ReadonlySet<string> = new Set(
  // What every page of a site has says nothing of this one.
  'script style noscript template svg iframe object canvas select button dialog nav footer aside form title'.split(' '),
);
const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const BLOCKS: ReadonlySet<string> = new Set(
  'p div li ul ol dl dt dd tr table thead tbody br hr section article main header pre blockquote figure h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);
const HEADING = /^h([1-6])$/;
const MOST_TITLE_CHARS = 200;

/**
 * The text that people read in a page, a line for each block. Only its marks are looked at, one after another, and no tree is made: so
 * it is linear in the page, however deep and broken that is. Nothing of it is run or fetched.
 */
export function textOfHtml(html: string): HtmlText {
  const reader = new PageReader(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.result();
}

const ignore = () => undefined;

class PageReader {
  readonly #html: string;
  readonly #pieces: string[] = [];
  #title = '';
  #heading = '';
  /** The tag that begins at present. */
  #tag = '';
  #isHidden = false;
  /** Inside of what is not seen: its tag, and how often that stands open. */
  #unseen = '';
  #depth = 0;
  #isHeading = false;

  constructor(html: string) {
    this.#html = html;
  }

  result(): HtmlText {
    return { title: plain(this.#title) || plain(this.#heading) || undefined, text: tidy(this.#pieces.join('')) };
  }

  onopentagname(from: number, to: number): void {
    this.#tag = this.#html.slice(from, to).toLowerCase();
    this.#isHidden = UNSEEN.has(this.#tag);
  }

  onattribname(from: number, to: number): void {
    if (this.#html.slice(from, to).toLowerCase() === 'hidden') this.#isHidden = true;
  }

  onopentagend(): void {
    const name = this.#tag;
    if (this.#depth > 0) {
      if (name === this.#unseen) this.#depth += 1;
      return;
    }
    if (this.#isHidden && !VOID.has(name)) {
      this.#unseen = name;
      this.#depth = 1;
      return;
    }
    if (BLOCKS.has(name)) this.#pieces.push('\n');
    if (CELLS.has(name)) this.#pieces.push(' | ');
    const level = HEADING.exec(name)?.[1];
    if (level === undefined) return;
    this.#pieces.push(`${'#'.repeat(Number(level))} `);
    this.#isHeading = this.#heading === '';
  }

  /** In HTML the stroke at a tag's end says nothing. */
  onselfclosingtag(): void {
    this.onopentagend();
  }

  onclosetag(from: number, to: number): void {
    const name = this.#html.slice(from, to).toLowerCase();
    if (this.#depth > 0) {
      if (name === this.#unseen) this.#depth -= 1;
      return;
    }
    if (HEADING.test(name)) this.#isHeading = false;
    if (BLOCKS.has(name)) this.#pieces.push('\n');
  }

  ontext(from: number, to: number): void {
    this.#take(this.#html.slice(from, to));
  }

  ontextentity(code: number): void {
    this.#take(String.fromCodePoint(code));
  }

  #take(text: string): void {
    if (this.#unseen === 'title' && this.#depth > 0 && this.#title.length < MOST_TITLE_CHARS) this.#title += text;
    if (this.#depth > 0) return;
    if (this.#isHeading && this.#heading.length < MOST_TITLE_CHARS) this.#heading += text;
    this.#pieces.push(text.replace(/\s+/g, ' '));
  }

  readonly onattribdata = ignore;
  readonly onattribentity = ignore;
  readonly onattribend = ignore;
  readonly oncdata = ignore;
  readonly oncomment = ignore;
  readonly ondeclaration = ignore;
  readonly onend = ignore;
  readonly onprocessinginstruction = ignore;
}

function plain(text: string): string {
  return text
    .slice(0, 2 * MOST_TITLE_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MOST_TITLE_CHARS);
}

function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/[^\S\n]+/g, ' ').trim())
    .filter((line) => line !== '' && !/^#{1,6}$/.test(line))
    .join('\n');
}
