import { Tokenizer } from 'htmlparser2';
import { Breath } from '../../base/breath.ts';

/** An entry of a sitemap, as it stands there. */
export interface SitemapEntry {
  address: string;
  lastModified?: string;
}

/** `pages`: it lists pages; `sitemaps`: it lists sitemaps. */
export type SitemapKind = 'pages' | 'sitemaps';

type Take = (entry: SitemapEntry, kind: SitemapKind) => void;

/** Longer ones than these are handed on cut, so that they are none. */
const MOST_ADDRESS_CHARS = 2_049;
const MOST_DATE_CHARS = 64;
const MOST_NAME_CHARS = 80;
/** What is in so many characters takes a few milliseconds. */
const PIECE = 16_384;

interface Root {
  /** Undefined for what is no sitemap. */
  kind: SitemapKind | undefined;
  /** The tag of an entry. */
  entry: string;
}

const ROOTS: Readonly<Record<string, Root>> = {
  urlset: { kind: 'pages', entry: 'url' },
  sitemapindex: { kind: 'sitemaps', entry: 'sitemap' },
};

/**
 * Reads a sitemap, XML or a list of lines, in pieces between which others get their turn: linear in its length, however deep, broken
 * or false it is. Nothing that it defines itself counts, so it stands for no more than is in it. @returns undefined for what is none
 * @param take gets each entry as it comes, and what it is an entry of @throws the signal's reason
 */
export async function readSitemap(bytes: Buffer, take: Take, signal: AbortSignal): Promise<SitemapKind | undefined> {
  const breath = new Breath();
  const rest = async () => {
    if (breath.isDue) await breath.take();
    signal.throwIfAborted();
  };
  const text = await decode(bytes, rest);
  return /^\s*</.test(text.slice(0, PIECE)) ? readXml(text, take, rest) : readLines(text, take, rest);
}

/** An encoding of its own is none of a sitemap's. */
async function decode(bytes: Buffer, rest: () => Promise<void>): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(decoder.decode(bytes.subarray(at, at + PIECE), { stream: true }));
    await rest();
  }
  return pieces.join('') + decoder.decode();
}

async function readXml(text: string, take: Take, rest: () => Promise<void>): Promise<SitemapKind | undefined> {
  const reader = new SitemapReader(text, take);
  const tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: true }, reader);
  for (let at = 0; at < text.length && !reader.isNone; at += PIECE) {
    tokenizer.write(text.slice(at, at + PIECE));
    await rest();
  }
  tokenizer.end();
  return reader.kind;
}

async function readLines(text: string, take: Take, rest: () => Promise<void>): Promise<SitemapKind | undefined> {
  let kind: SitemapKind | undefined;
  let restedAt = 0;
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const address = text.slice(at, Math.min(end, at + MOST_ADDRESS_CHARS)).trim();
    at = end + 1;
    if (/^https?:\/\//i.test(address)) {
      kind = 'pages';
      take({ address: unshared(address) }, kind);
    }
    if (at - restedAt < PIECE) continue;
    restedAt = at;
    await rest();
  }
  return kind;
}

const ignore = () => undefined;

/** Takes what a tokenizer finds. Of the tags that stand open only their number is kept, and only within an entry. */
class SitemapReader {
  readonly #text: string;
  readonly #take: Take;
  #root: Root | undefined;
  /** The tag that begins at present, without its namespace's prefix. */
  #tag = '';
  #entry: { loc: string; lastmod: string } | undefined;
  /** Tags that stand open within the entry. */
  #depth = 0;
  #field: 'loc' | 'lastmod' | undefined;

  constructor(text: string, take: Take) {
    this.#text = text;
    this.#take = take;
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
    // One that was never closed ends where the next one begins.
    if (name === this.#root.entry && this.#depth < 2) this.#begin();
    else if (this.#entry) {
      this.#depth += 1;
      this.#field = this.#depth === 1 && (name === 'loc' || name === 'lastmod') ? name : undefined;
    }
  }

  /** Empty: it says nothing. */
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
    if (this.#field) this.#add(this.#field, this.#text.slice(from, Math.min(to, from + MOST_ADDRESS_CHARS)));
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
    // Blanks stand around it, as many as somebody likes.
    if (entry && entry[field].length < MOST_ADDRESS_CHARS)
      entry[field] = (entry[field] + text).trimStart().slice(0, MOST_ADDRESS_CHARS);
  }

  #end(): void {
    const entry = this.#entry;
    this.#entry = this.#field = undefined;
    this.#depth = 0;
    const address = entry?.loc.trim() ?? '';
    const kind = this.kind;
    if (!entry || !kind || address === '') return;
    const written = entry.lastmod.trim().slice(0, MOST_DATE_CHARS);
    this.#take({ address: unshared(address), lastModified: written === '' ? undefined : unshared(written) }, kind);
  }

  #nameAt(from: number, to: number): string {
    const name = this.#text.slice(from, Math.min(to, from + MOST_NAME_CHARS)).toLowerCase();
    return name.slice(name.indexOf(':') + 1).trim();
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

/** A part of a text holds all of it in memory; what is kept for long must not. */
function unshared(part: string): string {
  return Buffer.from(part).toString();
}
