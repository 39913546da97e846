import { Segment, type DocumentEntry } from './segment.ts';
import type { BuiltSegment } from './segment-builder.ts';
import { rankDocuments, type Ranked } from './rank-documents.ts';
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

export interface IndexQuery {
  query: string;
  /** Documents for which this is false do not exist for the search. */
  isReadable(entry: DocumentEntry): boolean;
  most: number;
}

/** The documents of all local sources, in segments. */
export class PassageIndex {
  #segments: Segment[] = [];
  /** Where the newest of each document stands. */
  readonly #places = new Map<string, { segment: Segment; document: number }>();

  /** @returns undefined where there is none */
  find(source: string, path: string): DocumentEntry | undefined {
    const place = this.#places.get(nameOf(source, path));
    return place?.segment.parts.documents[place.document];
  }

  entries(): DocumentEntry[] {
    return [...this.#places.values()].map(
      ({ segment, document }) => segment.parts.documents[document] as DocumentEntry,
    );
  }

  /** Takes documents in; earlier ones of the same name are deleted in the same step. */
  take(segment: Segment): void {
    this.#segments.push(segment);
    for (const [document, { source, path }] of segment.parts.documents.entries()) {
      if (segment.isDeleted(document)) continue;
      this.remove(source, path);
      this.#places.set(nameOf(source, path), { segment, document });
    }
  }

  /** The same of what was just built; its text stays in memory. */
  takeBuilt({ text, ...built }: BuiltSegment): void {
    this.take(new Segment({ ...built, text: inMemory(text) }));
  }

  remove(source: string, path: string): void {
    const name = nameOf(source, path);
    const place = this.#places.get(name);
    place?.segment.delete(place.document);
    this.#places.delete(name);
  }

  removeAll(source: string): void {
    for (const entry of this.entries()) if (entry.source === source) this.remove(source, entry.path);
  }

  /** What there is of documents that are not deleted. */
  size(): { documents: number; passages: number; textBytes: number } {
    const entries = this.entries();
    const passages = entries.reduce((sum, entry) => sum + entry.passages, 0);
    return {
      documents: entries.length,
      passages,
      textBytes: this.#segments.reduce((sum, one) => sum + one.liveBytes, 0),
    };
  }

  search(query: IndexQuery): IndexHit[] {
    return rankDocuments(this.#segments, query).map((ranked) => hitOf(ranked));
  }
}

function hitOf({ segment, document, passage, score }: Ranked): IndexHit {
  const { documents, passages, contexts } = segment.parts;
  const entry = documents[document] as DocumentEntry;
  const place = contexts[passages.context[passage] as number] ?? '';
  return { entry, place, text: textAround(segment, document, passage), score };
}

function inMemory(text: Buffer): Segment['parts']['text'] {
  return { sizeBytes: text.length, read: (from, to) => text.subarray(from, to), close: () => undefined };
}

function nameOf(source: string, path: string): string {
  return `${source}\n${path}`;
}
