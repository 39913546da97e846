import { isContinued } from '../../shared/text/is-continued.ts';
/** The address of a link, which an app does not show, or a character that is written as an entity. */
const HIDDEN = /\]\((?:[^()\n]|\([^()\n]*\))*\)|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi;
/** A link that may still continue is at most this long. */
const MAX_LINK_CHARS = 2_400;
const MAX_ENTITY_CHARS = 10;
/** How much of the text before the first link or entity is read with it. */
const CONTEXT_CHARS = 1_024;
const LAST_CODE_POINT = 0x10ffff;
const NAMED: Readonly<Record<string, string>> = { '&nbsp;': ' ', '&ensp;': ' ', '&emsp;': ' ' };
const INVISIBLE = /^&(?:shy|zwn?j|lrm|rlm);$/i;

/** A text as an app shows it. */
interface Shown {
  text: string;
  /** Where in the source a character of the text stands. */
  sourceIndexOf(index: number): number;
}

/** Reads a growing markdown text as an app shows it: without the addresses of links, and with entities as characters. */
export class ShownText {
  #source = '';
  #text = '';
  /** Index in the source where the shown text begins; undefined while nothing is hidden. */
  #from: number | undefined;
  /** After which index of the shown text how many characters of the source are hidden. */
  #hidden: { at: number; chars: number }[] = [];

  /** @returns undefined while the shown text is the source itself */
  read(source: string, isWhole: boolean, end: number): Shown | undefined {
    if (!isContinued(source, this.#source)) {
      this.#source = this.#text = '';
      this.#from = undefined;
      this.#hidden = [];
    }
    const at = this.#source.length;
    const piece = source.slice(at, end);
    const open = isWhole ? piece : piece.slice(0, settledChars(piece));
    this.#source = source.slice(0, at + open.length);
    const first = this.#from === undefined ? firstHidden(open) : 0;
    if (first < 0) return undefined;
    if (this.#from === undefined) {
      this.#from = beginning(source, at + first);
      this.#text = source.slice(this.#from, at);
    }
    const from = this.#from;
    let read = Math.max(0, from - at);
    for (const { 0: hidden, index } of open.matchAll(HIDDEN)) {
      const shown = shownFor(hidden);
      this.#text += open.slice(read, index) + shown;
      read = index + hidden.length;
      this.#hidden.push({ at: this.#text.length, chars: hidden.length - shown.length });
    }
    this.#text += open.slice(read);
    const before = (index: number) => this.#hidden.filter((one) => one.at <= index);
    const sourceIndexOf = (index: number) => before(index).reduce((sum, { chars }) => sum + chars, from + index);
    return { text: this.#text, sourceIndexOf };
  }
}

/** Index of the first link or entity, or -1. Most texts have neither of the characters. */
function firstHidden(text: string): number {
  return text.includes(']') || text.includes('&') ? text.search(HIDDEN) : -1;
}

/** How much of the text contains no link or entity that may still continue. */
function settledChars(text: string): number {
  if (!text.includes(']') && !text.includes('&')) return text.length;
  const link = text.lastIndexOf('](');
  const rest = text.slice(link);
  const isOpen = link >= 0 && rest.length <= MAX_LINK_CHARS && !rest.includes('\n');
  if (isOpen && rest.search(HIDDEN) !== 0) return link;
  if (text.endsWith(']')) return text.length - 1;
  const entity = text.lastIndexOf('&');
  const isCut = entity >= 0 && entity > text.length - MAX_ENTITY_CHARS && !text.includes(';', entity);
  return isCut ? entity : text.length;
}

/** A place at a space before the index, so that no word is cut. */
function beginning(text: string, index: number): number {
  const limit = Math.max(0, index - CONTEXT_CHARS);
  return limit === 0 ? 0 : Math.max(text.indexOf(' ', limit) + 1, limit);
}

function shownFor(hidden: string): string {
  if (hidden.startsWith(']')) return ']';
  const [, hex, digits] = /^&#(?:x([\da-f]+)|(\d+));$/i.exec(hidden) ?? [];
  const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  if (code <= LAST_CODE_POINT) return String.fromCodePoint(code);
  return INVISIBLE.test(hidden) ? '' : (NAMED[hidden] ?? hidden);
}
