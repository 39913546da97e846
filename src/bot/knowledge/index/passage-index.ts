import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import { rankDocuments, type IndexQuery, type Ranked } from './rank-documents.ts';
import { SegmentBuilder, type NewDocument } from './segment-builder.ts';
import type { SegmentFiles } from './segment-files.ts';
import type { DocumentEntry, Segment } from './segment.ts';

/** Context before and after a passage, which often names its topic. Bytes per side. */
const ROOM_BYTES = 300;

/** The text of a passage with context from the same document, cut at word boundaries. */
function textAround({ parts: { documents, passages, text } }: Segment, document: number, passage: number): string {
  const { textFrom, textTo } = documents[document] as DocumentEntry;
  const from = passages.from[passage] as number;
  const to = passages.to[passage] as number;
  const roomFrom = Math.max(textFrom, from - ROOM_BYTES);
  const roomTo = Math.min(textTo, to + ROOM_BYTES);
  const bytes = text.read(roomFrom, roomTo);
  const within = wholeCharacters(bytes.subarray(from - roomFrom, to - roomFrom));
  const before = wholeCharacters(bytes.subarray(0, from - roomFrom));
  const behind = wholeCharacters(bytes.subarray(to - roomFrom));
  const led = roomFrom === textFrom ? before : before.replace(/^[^\s。！？；，]*[\s。！？；，]?/, '… ');
  const followed = roomTo === textTo ? behind : behind.replace(/(?<![^\s。！？；，])[^\s。！？；，]*$/, ' …');
  return `${led}${within}${followed}`.trim();
}

/** Removes characters that were cut at either end. */
function wholeCharacters(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\uFFFD+|(?<!\uFFFD)\uFFFD+$/g, '');
}

/** A matching document and its best passage. */
export interface IndexHit {
  entry: DocumentEntry;
  /** Headings, page or sheet; empty if there are none. */
  place: string;
  text: string;
  /** Between 0 and 1. */
  score: number;
}

export interface IndexSize {
  documents: number;
  passages: number;
  textBytes: number;
}

/** Size at which a segment is closed, so that documents are searchable while the rest is still being read. */
const SEGMENT_BYTES = 4 * 1_024 * 1_024;
/** Number of small segments that triggers a merge. */
const MAX_SMALL = 8;

/** All local documents, in segments. */
export class PassageIndex {
  readonly #files: SegmentFiles;
  readonly #yielder = new EventLoopYielder();
  #segments: Segment[] = [];
  /** Location of each document, by source and path. */
  readonly #places = new Map<string, Map<string, { segment: Segment; document: number }>>();
  #builder = new SegmentBuilder();

  constructor(files: SegmentFiles) {
    this.#files = files;
    for (const segment of files.load()) this.#take(segment);
  }

  /** @returns undefined if it is not indexed */
  find(source: string, path: string): DocumentEntry | undefined {
    const place = this.#places.get(source)?.get(path);
    return place?.segment.parts.documents[place.document];
  }

  sources(): string[] {
    return [...this.#places.keys()];
  }

  paths(source: string): string[] {
    return [...(this.#places.get(source)?.keys() ?? [])];
  }

  /** Adds a document. It is searchable after `settle` at the latest. */
  async add(document: NewDocument): Promise<void> {
    await this.#builder.add(document, this.#yielder);
    if (this.#builder.textBytes >= SEGMENT_BYTES) await this.#close();
  }

  remove(source: string, path: string): void {
    const paths = this.#places.get(source);
    const place = paths?.get(path);
    place?.segment.delete(place.document);
    paths?.delete(path);
    if (paths?.size === 0) this.#places.delete(source);
  }

  removeSource(source: string): void {
    for (const path of this.paths(source)) this.remove(source, path);
  }

  /** Makes all added documents searchable and saves the index. */
  async settle(): Promise<void> {
    if (this.#builder.documents > 0) await this.#close();
    const worn = this.#segments.filter((segment) => segment.liveBytes * 3 < segment.parts.text.sizeBytes * 2);
    const small = this.#segments.filter((segment) => segment.liveBytes * 2 < SEGMENT_BYTES);
    const merged = new Set([...worn, ...(small.length > MAX_SMALL ? small : [])]);
    for (const segment of merged) await this.#merge(segment);
    if (this.#builder.documents > 0) await this.#close();
    this.#segments = this.#segments.filter((segment) => !merged.has(segment));
    this.#files.list();
    for (const segment of merged) this.#files.drop(segment);
  }

  size(): IndexSize {
    let documents = 0;
    let passages = 0;
    for (const paths of this.#places.values())
      for (const { segment, document } of paths.values()) {
        documents += 1;
        passages += segment.parts.documents[document]?.passages ?? 0;
      }
    return { documents, passages, textBytes: this.#segments.reduce((sum, { liveBytes }) => sum + liveBytes, 0) };
  }

  search(query: IndexQuery): IndexHit[] {
    return rankDocuments(this.#segments, query).flatMap((ranked) => hitOf(ranked) ?? []);
  }

  /** Copies a segment's live documents into the current builder. The segment stays searchable until the new one is ready. */
  async #merge(segment: Segment): Promise<void> {
    for (const [document, entry] of segment.parts.documents.entries()) {
      if (segment.isDeleted(document)) continue;
      const { source, path, title, readers, url, date, stamp, refused } = entry;
      const facts = { source, path, title, readers, url, date, stamp, refused };
      try {
        await this.#builder.addPieces(facts, segment.pieces(document), this.#yielder);
      } catch {
        // Its text cannot be read, so the document is removed and indexed again.
        this.remove(source, path);
      }
      if (this.#builder.textBytes >= SEGMENT_BYTES) await this.#close();
    }
  }

  async #close(): Promise<void> {
    const builder = this.#builder;
    this.#builder = new SegmentBuilder();
    this.#take(this.#files.keep(await builder.build(this.#yielder)));
  }

  /** Deletes earlier versions of the same documents in the same step. */
  #take(segment: Segment): void {
    this.#segments.push(segment);
    for (const [document, { source, path }] of segment.parts.documents.entries()) {
      if (segment.isDeleted(document)) continue;
      this.remove(source, path);
      const paths = this.#places.get(source) ?? new Map<string, { segment: Segment; document: number }>();
      this.#places.set(source, paths);
      paths.set(path, { segment, document });
    }
  }
}

/** @returns undefined if its text cannot be read */
function hitOf({ segment, document, passage, score }: Ranked): IndexHit | undefined {
  const { documents, passages, contexts } = segment.parts;
  const entry = documents[document] as DocumentEntry;
  const place = contexts[passages.context[passage] as number] ?? '';
  try {
    return { entry, place, text: textAround(segment, document, passage), score };
  } catch {
    return undefined;
  }
}
