import { parse } from 'yaml';
import { compatibleForm, stripInvisible } from '../../shared/text/sanitize-text.ts';
import { readReaders, type Readers } from './readers.ts';

/** Metadata at the start of a document. */
export interface FrontMatter {
  title?: string;
  /** Absent if the document has no `readers`; the source's `readers` then apply. */
  readers?: Readers;
  /** `YYYY-MM-DD` */
  date?: string;
}

export interface WithoutFrontMatter {
  matter: FrontMatter;
  /** The document without its front matter. */
  text: string;
  /** Set if the front matter cannot be understood. The document is then skipped and reported. */
  isOdd?: boolean;
}

/** Longer blocks are not parsed. */
const MAX_CHARS = 8_192;
/** How far the end of a block is searched. */
const MAX_SEARCHED_CHARS = 262_144;
const OPENING = /^---[ \t]*\n/;
const CLOSING = /(?<![^\n])(?:---|\.\.\.)[ \t]*(?![^\n])/;
/** Delimiters of other front matter formats and look-alikes of the usual one. */
const ODD_OPENING = /^(?:[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{3,}|\+{3,}|;{3,}|\u{ff0b}{3,})[^\n]{0,40}\n|^\{/u;
const ODD_CLOSING =
  /(?<![^\n])(?:[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{3,}|\+{3,}|;{3,}|\u{ff0b}{3,}|\.{3})[ \t]*(?![^\n])/u;
/** A line with a key, in YAML, TOML or JSON. */
const FIELD = /^[\s{,?"'*_-]{0,20}([^\s:=：＝#][^:=：＝\n]{0,80}?)["'\s]{0,20}[:=：＝]/u;
const MAX_TITLE_CHARS = 200;
/** Homoglyphs of the letters in `readers`, including small capitals. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{ а: 'a', ɑ: 'a', α: 'a', ᴀ: 'a', е: 'e', ε: 'e', є: 'e', ҽ: 'e', ᴇ: 'e', ԁ: 'd', ɗ: 'd', ᴅ: 'd', đ: 'd' },
  ...{ г: 'r', ʀ: 'r', ᴦ: 'r', ꭇ: 'r', ѕ: 's', ꜱ: 's', ʂ: 's' },
};

/**
 * Splits off the front matter: a YAML block between two `---` lines at the very beginning. A document with a malformed
 * block, or with a `readers` field that cannot be parsed, is hidden from all readers (SECURITY.md knowledge-rights).
 */
export function splitFrontMatter(document: string): WithoutFrontMatter {
  const bare = document.replace(/^\uFEFF/, '').replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n');
  const opening = OPENING.exec(bare)?.[0];
  if (opening === undefined) return isOddBlock(bare) ? oddDocument(document) : { matter: {}, text: document };
  const head = bare.slice(opening.length, opening.length + MAX_SEARCHED_CHARS);
  const closing = CLOSING.exec(head);
  const written = closing ? head.slice(0, closing.index) : head;
  const fields = closing && written.length <= MAX_CHARS ? fieldsIn(written) : undefined;
  // A horizontal rule starts the same way.
  if (!closing || !fields) return isOddBlock(bare) ? oddDocument(document) : { matter: {}, text: document };
  const text = bare.slice(opening.length + closing.index + closing[0].length).replace(/^\n/, '');
  const readers = readersIn(fields);
  const isOdd = (readers === undefined && namesReaders(written)) || (readers !== 'nobody' && hasSecondBlock(text));
  if (isOdd) return oddDocument(text);
  return {
    matter: { title: titleIn(fields), readers, date: dateIn(fields) },
    text,
    isOdd: readers === 'nobody' ? true : undefined,
  };
}

function oddDocument(text: string): WithoutFrontMatter {
  return { matter: { readers: 'nobody' }, text, isOdd: true };
}

/**
 * Whether a document starts with a likely front matter block in a wrong form: after blanks or invisible characters, with
 * other delimiters, unterminated or too long. The first line must look like a field, unless `readers` occurs in a later
 * line.
 */
function isOddBlock(document: string): boolean {
  const start = stripInvisible(document.slice(0, MAX_SEARCHED_CHARS)).trimStart();
  const opening = ODD_OPENING.exec(start)?.[0];
  if (opening === undefined) return false;
  const rest = start.slice(opening.length);
  const closing = ODD_CLOSING.exec(rest);
  const block = closing ? rest.slice(0, closing.index) : rest;
  if (namesReaders(block)) return true;
  const [first = ''] = block.trimStart().split('\n', 1);
  return opening !== '{' && FIELD.test(first) && !first.includes('://');
}

/** A second block directly after the first. Its `readers` would otherwise be treated as text. */
function hasSecondBlock(text: string): boolean {
  const start = stripInvisible(text.slice(0, MAX_CHARS)).trimStart();
  const opening = ODD_OPENING.exec(start)?.[0];
  if (opening === undefined || opening === '{') return false;
  const rest = start.slice(opening.length);
  const closing = ODD_CLOSING.exec(rest);
  return closing !== null && namesReaders(rest.slice(0, closing.index));
}

/** Whether any line has a field named `readers` or a look-alike. */
function namesReaders(block: string): boolean {
  return block.split('\n').some((line) => {
    const [, name] = FIELD.exec(line) ?? [];
    return name !== undefined && looksLikeReaders(name);
  });
}

/** Whether a person would read a name as `readers`, regardless of look-alike characters. */
function looksLikeReaders(name: string): boolean {
  const letters = [...compatibleForm(stripInvisible(name)).normalize('NFD').toLowerCase()];
  const plain = letters.map((letter) => LOOK_ALIKES[letter] ?? letter).join('');
  return /^readers?$/.test(plain.replace(/[^a-z]/g, ''));
}

/** @returns undefined if it is not a mapping */
function fieldsIn(yaml: string): ReadonlyMap<unknown, unknown> | undefined {
  try {
    // Aliases allow exponential expansion and are not needed.
    const parsed: unknown = parse(yaml, { mapAsMap: true, maxAliasCount: 0, logLevel: 'error' });
    if (parsed === null) return new Map();
    return parsed instanceof Map ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function readersIn(fields: ReadonlyMap<unknown, unknown>): Readers | undefined {
  const named = [...fields.keys()].filter((key) => typeof key !== 'string' || looksLikeReaders(key));
  if (named.length === 0) return undefined;
  return named.length === 1 && named[0] === 'readers' ? readReaders(asObject(fields.get('readers'))) : 'nobody';
}

function titleIn(fields: ReadonlyMap<unknown, unknown>): string | undefined {
  const title = fields.get('title');
  const text = typeof title === 'string' || typeof title === 'number' ? String(title) : '';
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS) || undefined;
}

function dateIn(fields: ReadonlyMap<unknown, unknown>): string | undefined {
  const date = fields.get('date');
  return typeof date === 'string' ? /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(date)?.[0] : undefined;
}

/** Converts only the top level. The schema validates the rest. */
function asObject(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
