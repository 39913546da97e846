import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import { cutIntoPassages } from './passages.ts';
import { isPageList } from './page-list.ts';
import { ByteWriter, writePostings } from './postings.ts';
import type { DocumentEntry, DocumentPiece, PassageTable, SegmentParts } from './segment.ts';
import { TermTable } from './term-table.ts';
import { eachTerm, type Term, type TermForm } from '../../../shared/text/search-terms.ts';

/** Metadata of a document. */
export type DocumentFacts = Pick<
  DocumentEntry,
  'source' | 'path' | 'title' | 'readers' | 'url' | 'date' | 'stamp' | 'refused'
>;

/** A document to be indexed. */
export interface NewDocument extends DocumentFacts {
  /** With labels such as `page 3`, if the document has such parts. */
  parts: readonly { label?: string; text: string }[];
}

/** A built segment whose text is not stored yet. */
export interface BuiltSegment extends Omit<SegmentParts, 'text'> {
  text: Buffer;
}

/** A table of contents names a topic that another passage explains. It ranks like a passage of several times its length. */
const PAGE_LIST_LENGTHS = 6;
/** Separator between two parts of a document. */
const PART_BREAK = '\n\n';

/** Builds one segment. Yields to searches during long work. */
export class SegmentBuilder {
  readonly #documents: DocumentEntry[] = [];
  readonly #passages: Record<keyof PassageTable, number[]> = {
    document: [],
    from: [],
    to: [],
    length: [],
    context: [],
  };
  readonly #contexts = new Map<string, number>();
  readonly #table = new TermTable();
  /** Postings are linked lists: each has its passage, the term count and the next posting of the term. */
  #passageOf = new Int32Array(65_536);
  #countOf = new Uint16Array(65_536);
  #nextOf = new Int32Array(65_536);
  #postings = 0;
  readonly #texts: Buffer[] = [];
  #textBytes = 0;

  get textBytes(): number {
    return this.#textBytes;
  }

  get documents(): number {
    return this.#documents.length;
  }

  async add({ parts, ...about }: NewDocument, yielder = new EventLoopYielder()): Promise<void> {
    await this.addPieces(about, piecesOf(parts), yielder);
  }

  /** Adds a document that is already split into passages, in order. */
  async addPieces(
    about: DocumentFacts,
    pieces: Iterable<DocumentPiece>,
    yielder = new EventLoopYielder(),
  ): Promise<void> {
    const entry = {
      ...about,
      firstPassage: this.#passages.document.length,
      passages: 0,
      terms: 0,
      textFrom: this.#textBytes,
    };
    for (const { gap, text, context } of pieces) {
      if (yielder.isDue) await yielder.yieldNow();
      this.#addText(gap);
      entry.terms += this.#addPassage(`${about.title}\n${context}`, text, context);
      entry.passages += 1;
    }
    this.#documents.push({ ...entry, textTo: this.#textBytes });
  }

  /** Builds the segment. Nothing can be added afterwards. */
  async build(yielder = new EventLoopYielder()): Promise<BuiltSegment> {
    const terms = this.#table.sorted();
    const starts = new Uint32Array(terms.length + 1);
    const writer = new ByteWriter();
    const pairs: number[] = [];
    for (let at = 0; at < terms.length; at += 1) {
      if (at % 64 === 0 && yielder.isDue) await yielder.yieldNow();
      pairs.length = 0;
      for (
        let posting = this.#table.firstOf(terms[at] as Term);
        posting >= 0;
        posting = this.#nextOf[posting] as number
      )
        pairs.push(this.#passageOf[posting] as number, this.#countOf[posting] as number);
      writePostings(writer, pairs);
      starts[at + 1] = writer.length;
    }
    const { document, from, to, length, context } = this.#passages;
    const passages = {
      document: Uint32Array.from(document),
      from: Uint32Array.from(from),
      to: Uint32Array.from(to),
      length: Uint32Array.from(length),
      context: Uint32Array.from(context),
    };
    const contexts = [...this.#contexts.keys()];
    return {
      documents: this.#documents,
      passages,
      contexts,
      terms,
      starts,
      postings: writer.written(),
      text: Buffer.concat(this.#texts),
    };
  }

  /** @returns its number of terms */
  #addPassage(heads: string, text: string, context: string): number {
    const passage = this.#passages.document.length;
    let length = 0;
    const take = (term: Term) => {
      length += 1;
      this.#addTerm(term, passage);
    };
    const takeForm = (form: Term, kind: TermForm) => {
      if (kind !== 'question') this.#addTerm(form, passage);
    };
    // A document's topic is often named only in its title.
    eachTerm(heads, take, takeForm);
    eachTerm(text, take, takeForm);
    this.#passages.document.push(this.#documents.length);
    this.#passages.from.push(this.#textBytes);
    this.#addText(text);
    this.#passages.to.push(this.#textBytes);
    this.#passages.length.push(isPageList(text) ? length * PAGE_LIST_LENGTHS : length);
    this.#passages.context.push(this.#contextNumber(context));
    return length;
  }

  #addTerm(term: Term, passage: number): void {
    const last = this.#table.lastOf(term);
    if (last >= 0 && this.#passageOf[last] === passage) {
      if ((this.#countOf[last] as number) < 0xffff) this.#countOf[last] = (this.#countOf[last] as number) + 1;
      return;
    }
    if (this.#postings === this.#passageOf.length) this.#grow();
    const posting = this.#postings++;
    this.#passageOf[posting] = passage;
    this.#countOf[posting] = 1;
    this.#nextOf[posting] = -1;
    if (last >= 0) this.#nextOf[last] = posting;
    this.#table.setLast(term, posting);
  }

  #grow(): void {
    const size = this.#passageOf.length * 2;
    const larger = <List extends Int32Array | Uint16Array>(list: List, made: List): List => {
      made.set(list);
      return made;
    };
    this.#passageOf = larger(this.#passageOf, new Int32Array(size));
    this.#countOf = larger(this.#countOf, new Uint16Array(size));
    this.#nextOf = larger(this.#nextOf, new Int32Array(size));
  }

  #contextNumber(context: string): number {
    const known = this.#contexts.get(context);
    if (known !== undefined) return known;
    this.#contexts.set(context, this.#contexts.size);
    return this.#contexts.size - 1;
  }

  #addText(text: string): void {
    const bytes = Buffer.from(text);
    this.#texts.push(bytes);
    this.#textBytes += bytes.length;
  }
}

function* piecesOf(parts: NewDocument['parts']): Generator<DocumentPiece> {
  let gap = '';
  for (const { label, text } of parts) {
    let written = 0;
    for (const { from, to, context } of cutIntoPassages(text, label)) {
      yield { gap: gap + text.slice(written, from), text: text.slice(from, to), context };
      gap = '';
      written = to;
    }
    gap = PART_BREAK;
  }
}
