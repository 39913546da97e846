import { parse } from 'yaml';
import { readReaders, type Readers } from './readers.ts';

/** What a document says about itself before its text begins. */
export interface FrontMatter {
  title?: string;
  /** Absent where it says nothing, so that its source's readers are its own. */
  readers?: Readers;
  /** `YYYY-MM-DD` */
  date?: string;
}

export interface WithoutFrontMatter {
  matter: FrontMatter;
  /** What stands behind it. */
  text: string;
}

/** What is longer is no front matter, and is never given to the parser. */
const MOST_CHARS = 8_192;
const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*\r?$/m;
const MOST_TITLE_CHARS = 200;
/** A slip in the name would else open what somebody meant to close. */
const NEARLY_READERS = /readers?/i;

/**
 * Takes the front matter off a document: a block of YAML between two lines of `---`, at its very beginning. Where it speaks of readers
 * in a way that cannot be understood, nobody may read the document (SECURITY.md knowledge-rights).
 */
export function takeFrontMatter(document: string): WithoutFrontMatter {
  const opening = OPENING.exec(document)?.[0];
  if (opening === undefined) return { matter: {}, text: document };
  const head = document.slice(opening.length, opening.length + MOST_CHARS);
  const closing = CLOSING.exec(head);
  const written = closing ? head.slice(0, closing.index) : head;
  const fields = closing ? fieldsIn(written) : undefined;
  if (!closing || !fields) {
    // A line across the page begins the same way.
    return { matter: { readers: NEARLY_READERS.test(written) ? 'nobody' : undefined }, text: document };
  }
  const text = document.slice(opening.length + closing.index + closing[0].length).replace(/^\r?\n/, '');
  return { matter: { title: titleIn(fields), readers: readersIn(fields), date: dateIn(fields) }, text };
}

/** @returns undefined for what is no mapping */
function fieldsIn(yaml: string): ReadonlyMap<unknown, unknown> | undefined {
  try {
    // Aliases could make much of little, and nobody needs them here.
    const parsed: unknown = parse(yaml, { mapAsMap: true, maxAliasCount: 0, logLevel: 'error' });
    if (parsed === null) return new Map();
    return parsed instanceof Map ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function readersIn(fields: ReadonlyMap<unknown, unknown>): Readers | undefined {
  const named = [...fields.keys()].filter((key) => typeof key !== 'string' || /^\W*readers?\W*$/i.test(key));
  if (named.length === 0) return undefined;
  return named.length === 1 && named[0] === 'readers' ? readReaders(asObject(fields.get('readers'))) : 'nobody';
}

function titleIn(fields: ReadonlyMap<unknown, unknown>): string | undefined {
  const title = fields.get('title');
  const text = typeof title === 'string' || typeof title === 'number' ? String(title) : '';
  return text.replace(/\s+/g, ' ').trim().slice(0, MOST_TITLE_CHARS) || undefined;
}

function dateIn(fields: ReadonlyMap<unknown, unknown>): string | undefined {
  const date = fields.get('date');
  return typeof date === 'string' ? /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(date)?.[0] : undefined;
}

/** Only the first level is looked at as a mapping: what readers are is judged by their schema. */
function asObject(value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
