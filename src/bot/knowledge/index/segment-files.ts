import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { usableFolder } from '../usable-folder.ts';
import { Segment, type DocumentEntry, type SegmentText } from './segment.ts';
import type { BuiltSegment } from './segment-builder.ts';

/** Increment to rebuild the index when the terms or the document readers change. */
const FORMAT = 6;
const LIST = 'index.json';
const FILE_NAME = /^[\w-]{16}\.segment$/;
const NAME_BYTES = 12;
/** Lists are aligned to the widest number type. */
const ALIGNMENT = 8;
const HEAD_BYTES = 8;

const listSchema = z.object({
  format: z.literal(FORMAT),
  segments: z.array(
    z.object({ file: z.string().regex(FILE_NAME), checksum: z.number(), deleted: z.array(z.number()) }),
  ),
});

type Listed = z.output<typeof listSchema>;

interface Head {
  documents: DocumentEntry[];
  contexts: string[];
  terms: number;
  passages: number;
  postingsBytes: number;
}

/**
 * Stores segments as files in a folder. The lists are held in memory; the text stays in the file. Segment files are
 * immutable and the list of segments is replaced atomically, so a crash is safe at any point and two processes may share a
 * folder: a file that one deletes remains open in the other.
 */
export class SegmentFiles {
  readonly #folder: string | undefined;
  readonly #kept = new Map<Segment, { file: string; checksum: number }>();
  #listed = '';

  /** @param folder where the files are stored; if it is not writable, the segments last only as long as this process */
  constructor(folder: string) {
    this.#folder = usableFolder(folder);
  }

  /** Loads the intact segments of an earlier process. Documents of broken segments are indexed again. */
  load(): Segment[] {
    if (this.#folder === undefined) return [];
    const listed = readList(join(this.#folder, LIST));
    const segments = listed.segments.flatMap(
      ({ file, checksum, deleted }) => this.#open(file, checksum, deleted) ?? [],
    );
    this.#sweep();
    return segments;
  }

  /** @returns the segment, with its text in a file if possible */
  keep({ text, ...built }: BuiltSegment): Segment {
    const written = this.#write({ text, ...built });
    const kept = written && this.#open(written.file, written.checksum, []);
    return kept ?? new Segment({ ...built, text: inMemory(text) });
  }

  drop(segment: Segment): void {
    segment.parts.text.close();
    const kept = this.#kept.get(segment);
    this.#kept.delete(segment);
    if (kept) this.#remove(kept.file);
  }

  /** Saves the list of segments and their deleted documents. @returns whether it was saved */
  list(): boolean {
    if (this.#folder === undefined) return false;
    const segments = [...this.#kept].map(([segment, kept]) => ({ ...kept, deleted: segment.deleted() }));
    const text = JSON.stringify({ format: FORMAT, segments } satisfies Listed);
    if (text === this.#listed) return true;
    const path = join(this.#folder, LIST);
    const beside = `${path}.${randomToken(NAME_BYTES)}`;
    try {
      writeFileSync(beside, text, { mode: 0o600 });
      renameSync(beside, path);
      this.#listed = text;
      return true;
    } catch {
      rmSync(beside, { force: true });
      return false;
    }
  }

  #write({
    documents,
    contexts,
    terms,
    starts,
    postings,
    passages,
    text,
  }: BuiltSegment): { file: string; checksum: number } | undefined {
    if (this.#folder === undefined) return undefined;
    const head: Head = {
      documents: [...documents],
      contexts: [...contexts],
      terms: terms.length,
      passages: passages.from.length,
      postingsBytes: postings.length,
    };
    const headBytes = padded(Buffer.from(JSON.stringify(head)));
    const lengths = Buffer.alloc(HEAD_BYTES);
    lengths.writeUInt32LE(headBytes.length);
    const lists = [
      terms,
      starts,
      passages.document,
      passages.from,
      passages.to,
      passages.length,
      passages.context,
      postings,
    ];
    const pieces = [lengths, headBytes, ...lists.map((list) => padded(bytesOf(list))), text];
    const file = `${randomToken(NAME_BYTES)}.segment`;
    const path = join(this.#folder, file);
    try {
      const opened = openSync(path, 'wx', 0o600);
      try {
        for (const piece of pieces) writeWhole(opened, piece);
        fsyncSync(opened);
      } finally {
        closeSync(opened);
      }
      return { file, checksum: pieces.reduce((sum, piece) => crc32(piece, sum), 0) };
    } catch {
      rmSync(path, { force: true });
      return undefined;
    }
  }

  #open(file: string, checksum: number, deleted: readonly number[]): Segment | undefined {
    const path = join(this.#folder as string, file);
    let opened: number | undefined;
    try {
      opened = openSync(path, 'r');
      const bytes = readFileSync(path);
      if (crc32(bytes) !== checksum) throw new Error('An index segment is damaged');
      const segment = new Segment(partsOf(bytes, opened), deleted);
      this.#kept.set(segment, { file, checksum });
      return segment;
    } catch {
      if (opened !== undefined) closeSync(opened);
      return undefined;
    }
  }

  #remove(file: string): void {
    if (this.#folder !== undefined) rmSync(join(this.#folder, file), { force: true });
  }

  /** Deletes files that a crashed process left behind. Recent files may belong to a running process and are kept. */
  #sweep(): void {
    const known = new Set([...this.#kept.values()].map(({ file }) => file));
    for (const file of readdirSync(this.#folder as string)) {
      if (known.has(file) || !(FILE_NAME.test(file) || file.startsWith(`${LIST}.`))) continue;
      const ageMs =
        Date.now() - (statSync(join(this.#folder as string, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (ageMs > DAY_MS) this.#remove(file);
    }
  }
}

function partsOf(bytes: Buffer, opened: number): Segment['parts'] {
  let at = HEAD_BYTES;
  const take = (length: number): Buffer => {
    const taken = bytes.subarray(at, at + length);
    at += length + paddingOf(length);
    return taken;
  };
  const headBytes = take(bytes.readUInt32LE());
  const head = JSON.parse(headBytes.toString()) as Head;
  // Copied, so that the file's text does not stay in memory.
  const numbers = (count: number): Uint32Array => {
    const list = new Uint32Array(count);
    take(count * 4).copy(new Uint8Array(list.buffer));
    return list;
  };
  const terms = new Float64Array(head.terms);
  take(head.terms * 8).copy(new Uint8Array(terms.buffer));
  const starts = numbers(head.terms + 1);
  const [document, from, to, length, context] = Array.from({ length: 5 }, () => numbers(head.passages)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const postings = Uint8Array.from(take(head.postingsBytes));
  const text = inFile(opened, at, bytes.length - at);
  return {
    documents: head.documents,
    contexts: head.contexts,
    terms,
    starts,
    postings,
    passages: { document, from, to, length, context },
    text,
  };
}

function inFile(opened: number, begin: number, sizeBytes: number): SegmentText {
  let isClosed = false;
  return {
    sizeBytes,
    read(from, to) {
      const bytes = Buffer.alloc(to - from);
      if (isClosed || readSync(opened, bytes, 0, bytes.length, begin + from) !== bytes.length)
        throw new Error('The text of an index segment is missing');
      return bytes;
    },
    close() {
      if (!isClosed) closeSync(opened);
      isClosed = true;
    },
  };
}

function inMemory(text: Buffer): SegmentText {
  return { sizeBytes: text.length, read: (from, to) => text.subarray(from, to), close: () => undefined };
}

function readList(path: string): Listed {
  try {
    return listSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Treated as missing.
  }
  return { format: FORMAT, segments: [] };
}

function writeWhole(opened: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(opened, bytes, at);
}

function bytesOf(list: Float64Array | Uint32Array | Uint8Array): Buffer {
  return Buffer.from(list.buffer, list.byteOffset, list.byteLength);
}

function paddingOf(length: number): number {
  return (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;
}

function padded(bytes: Buffer): Buffer {
  const padding = paddingOf(bytes.length);
  return padding === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(padding, ' ')]);
}
