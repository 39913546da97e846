import { Breath } from '../../../shared/event-loop-yielder.ts';
import { rankDocuments, type IndexQuery, type Ranked } from './rank-documents.ts';
import { SegmentBuilder, type NewDocument } from './segment-builder.ts';
import type { SegmentFiles } from './segment-files.ts';
import type { DocumentEntry, Segment } from './segment.ts';
import { textAround } from './text-around.ts';

/** A document that fits, with what fits best of it. */
export interface IndexHit {
  entry: DocumentEntry;
  /** Headings, a page or a sheet; empty where there is nothing of the kind. */
  place: string;
  text: string;
  /** From 0 to 1. */
  score: number;
}

export interface IndexSize {
  documents: number;
  passages: number;
  textBytes: number;
}

/** A segment is closed from here on, so that what was read is found while the rest is still being read. */
const SEGMENT_BYTES = 4 * 1_024 * 1_024;
/** So many small segments are made one. */
const MOST_SMALL = 8;

/** The documents of all local sources, in segments. */
export class PassageIndex {
  readonly #files: SegmentFiles;
  readonly #breath = new Breath();
  #segments: Segment[] = [];
  /** Where each document stands: by its source, then by its path. */
  readonly #places = new Map<string, Map<string, { segment: Segment; document: number }>>();
  #builder = new SegmentBuilder();

  constructor(files: SegmentFiles) {
    this.#files = files;
    for (const segment of files.load()) this.#take(segment);
  }

  /** @returns undefined where there is none */
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

  /** Takes a document in; it is found once `settle` is done, or sooner. */
  async add(document: NewDocument): Promise<void> {
    await this.#builder.add(document, this.#breath);
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

  /** Lets all that was added be found, and keeps what there is. */
  async settle(): Promise<void> {
    if (this.#builder.documents > 0) await this.#close();
    const worn = this.#segments.filter((segment) => segment.liveBytes * 3 < segment.parts.text.sizeBytes * 2);
    const small = this.#segments.filter((segment) => segment.liveBytes * 2 < SEGMENT_BYTES);
    const merged = new Set([...worn, ...(small.length > MOST_SMALL ? small : [])]);
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

  /** What is still there of a segment goes into the next one; it stays searched until that is there. */
  async #merge(segment: Segment): Promise<void> {
    for (const [document, entry] of segment.parts.documents.entries()) {
      if (segment.isDeleted(document)) continue;
      const { source, path, title, readers, url, date, stamp, refused } = entry;
      const facts = { source, path, title, readers, url, date, stamp, refused };
      try {
        await this.#builder.addPieces(facts, segment.pieces(document), this.#breath);
      } catch {
        // Its text is gone: it is read anew.
        this.remove(source, path);
      }
      if (this.#builder.textBytes >= SEGMENT_BYTES) await this.#close();
    }
  }

  async #close(): Promise<void> {
    const builder = this.#builder;
    this.#builder = new SegmentBuilder();
    this.#take(this.#files.keep(await builder.build(this.#breath)));
  }

  /** Earlier documents of the same name are deleted in the same step. */
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

/** @returns undefined where its text cannot be read any more */
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
