import { Tokenizer } from 'htmlparser2';
import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';

/** An entry of a sitemap, unvalidated. */
export interface SitemapEntry {
  address: string;
  lastModified?: string;
}

/** `pages`: a list of pages; `sitemaps`: a sitemap index. */
export type SitemapKind = 'pages' | 'sitemaps';

type Take = (entry: SitemapEntry, kind: SitemapKind) => void;

/** Longer addresses are truncated to this length, which makes them invalid. */
const MAX_ADDRESS_CHARS = 2_049;
const MAX_DATE_CHARS = 64;
const MAX_NAME_CHARS = 80;
/** Characters per chunk; parsing one takes a few milliseconds. */
const PIECE = 16_384;

interface Root {
  /** Undefined if it is not a sitemap. */
  kind: SitemapKind | undefined;
  /** Element name of an entry. */
  entry: string;
}

const ROOTS: Readonly<Record<string, Root>> = {
  urlset: { kind: 'pages', entry: 'url' },
  sitemapindex: { kind: 'sitemaps', entry: 'sitemap' },
};

/**
 * Parses a sitemap, XML or plain text, in chunks and yields in between. Linear in the length, even for deeply nested, broken
 * or hostile input. Custom entities are ignored, so the content cannot expand.
 * @returns undefined if it is not a sitemap
 * @param take receives each entry and its kind
 * @throws the signal's reason
 */
export async function readSitemap(
  bytes: Iterable<Buffer>,
  take: Take,
  signal: AbortSignal,
): Promise<SitemapKind | undefined> {
  const yielder = new EventLoopYielder();
  // Yields first, because the download may have used this event loop turn.
  await yielder.yieldNow();
  let reader: XmlReader | LineReader | undefined;
  for (const text of decoded(bytes)) {
    if (yielder.isDue) await yielder.yieldNow();
    signal.throwIfAborted();
    const begin = text.trimStart();
    if (!reader && begin !== '') reader = begin.startsWith('<') ? new XmlReader(take) : new LineReader(take);
    reader?.write(text);
    if (reader?.isNone) break;
  }
  reader?.end();
  return reader?.kind;
}

/** Sitemaps are always UTF-8; a declared encoding is ignored. */
function* decoded(bytes: Iterable<Buffer>): Generator<string> {
  const decoder = new TextDecoder();
  for (const piece of bytes)
    for (let at = 0; at < piece.length; at += PIECE)
      yield decoder.decode(piece.subarray(at, at + PIECE), { stream: true });
  yield decoder.decode();
}

/** Plain text, one address per line. */
class LineReader {
  readonly isNone = false;
  kind: SitemapKind | undefined;
  readonly #take: Take;
  /** The incomplete current line. */
  #line = '';

  constructor(take: Take) {
    this.#take = take;
  }

  write(text: string): void {
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#end(text.slice(at, end));
      at = end + 1;
    }
    this.#line = (this.#line + text.slice(at)).slice(0, MAX_ADDRESS_CHARS);
  }

  end(): void {
    this.#end('');
  }

  #end(rest: string): void {
    const address = (this.#line + rest).slice(0, MAX_ADDRESS_CHARS).trim();
    this.#line = '';
    if (!/^https?:\/\//i.test(address)) return;
    this.kind = 'pages';
    this.#take({ address: unshared(address) }, this.kind);
  }
}

const ignore = () => undefined;

/** Handles tokenizer events. Keeps only the nesting depth, and only inside an entry. */
class XmlReader {
  readonly #take: Take;
  readonly #tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: true }, this);
  /** The unprocessed input, with the offset of each chunk. A tag may span several chunks. */
  readonly #pieces: { at: number; text: string }[] = [];
  #root: Root | undefined;
  /** The name of the tag that is being opened, without its namespace prefix. */
  #tag = '';
  #entry: { loc: string; lastmod: string } | undefined;
  /** Nesting depth inside the entry. */
  #depth = 0;
  #field: 'loc' | 'lastmod' | undefined;

  constructor(take: Take) {
    this.#take = take;
  }

  write(text: string): void {
    const before = this.#pieces.at(-1);
    this.#pieces.push({ at: before ? before.at + before.text.length : 0, text });
    this.#tokenizer.write(text);
  }

  end(): void {
    this.#tokenizer.end();
  }

  get kind(): SitemapKind | undefined {
    return this.#root?.kind;
  }

  get isNone(): boolean {
    return this.#root !== undefined && this.#root.kind === undefined;
  }

  onopentagname(from: number, to: number): void {
    this.#tag = this.#nameAt(from, to);
  }

  onopentagend(): void {
    const name = this.#tag;
    if (!this.#root) {
      this.#root = rootOf(name);
      return;
    }
    // An unclosed entry ends where the next one begins.
    if (name === this.#root.entry && this.#depth < 2) this.#begin();
    else if (this.#entry) {
      this.#depth += 1;
      this.#field = this.#depth === 1 && (name === 'loc' || name === 'lastmod') ? name : undefined;
    }
  }

  /** A self-closing element has no content. */
  onselfclosingtag(): void {
    this.#root ??= rootOf(this.#tag);
  }

  onclosetag(from: number, to: number): void {
    if (!this.#entry) return;
    this.#field = undefined;
    if (this.#nameAt(from, to) === this.#root?.entry) this.#end();
    else if (this.#depth > 0) this.#depth -= 1;
  }

  ontext(from: number, to: number): void {
    if (this.#field) this.#add(this.#field, this.#textAt(from, Math.min(to, from + MAX_ADDRESS_CHARS)));
  }

  oncdata(from: number, end: number, marks: number): void {
    this.ontext(from, end - marks);
  }

  ontextentity(code: number): void {
    if (this.#field) this.#add(this.#field, String.fromCodePoint(code));
  }

  onend(): void {
    this.#end();
  }

  #begin(): void {
    this.#end();
    this.#entry = { loc: '', lastmod: '' };
  }

  #add(field: 'loc' | 'lastmod', text: string): void {
    const entry = this.#entry;
    // Leading whitespace may be arbitrarily long.
    if (entry && entry[field].length < MAX_ADDRESS_CHARS)
      entry[field] = (entry[field] + text).trimStart().slice(0, MAX_ADDRESS_CHARS);
  }

  #end(): void {
    const entry = this.#entry;
    this.#entry = this.#field = undefined;
    this.#depth = 0;
    const address = entry?.loc.trim() ?? '';
    const kind = this.kind;
    if (!entry || !kind || address === '') return;
    const written = entry.lastmod.trim().slice(0, MAX_DATE_CHARS);
    this.#take({ address: unshared(address), lastModified: written === '' ? undefined : unshared(written) }, kind);
  }

  #nameAt(from: number, to: number): string {
    const name = this.#textAt(from, Math.min(to, from + MAX_NAME_CHARS)).toLowerCase();
    return name.slice(name.indexOf(':') + 1).trim();
  }

  #textAt(from: number, to: number): string {
    let index = this.#pieces.length - 1;
    while (index > 0 && (this.#pieces[index]?.at ?? 0) > from) index -= 1;
    let text = '';
    for (; index < this.#pieces.length && from + text.length < to; index += 1) {
      const piece = this.#pieces[index];
      if (piece) text += piece.text.slice(from + text.length - piece.at, to - piece.at);
    }
    return text;
  }

  readonly onattribname = ignore;
  readonly onattribdata = ignore;
  readonly onattribentity = ignore;
  readonly onattribend = ignore;
  readonly oncomment = ignore;
  readonly ondeclaration = ignore;
  readonly onprocessinginstruction = ignore;
}

function rootOf(tag: string): Root {
  return (Object.hasOwn(ROOTS, tag) ? ROOTS[tag] : undefined) ?? { kind: undefined, entry: '' };
}

/** Copies a substring. V8 substrings keep the whole parent string in memory. */
function unshared(part: string): string {
  return Buffer.from(part).toString();
}
