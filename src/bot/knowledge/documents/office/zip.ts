import { createInflateRaw, constants } from 'node:zlib';
import { MIB_BYTES } from '../../../../shared/clock.ts';
import { brokenDocument, DocumentError } from '../document.ts';

const END_MARK = 0x06054b50;
const END_BYTES = 22;
const ENTRY_MARK = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_MARK = 0x04034b50;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
/** A workbook with many sheets and one image each has some hundreds. */
const MAX_ENTRIES = 5_000;
/**
 * Total unpacked size per document; reading that much takes about three seconds. Entries are streamed and never held in
 * memory as a whole.
 */
const MAX_UNPACKED_BYTES = 64 * MIB_BYTES;
const PIECE_BYTES = 65_536;
const IN_THE_EXTRA_FIELD = 0xffffffff;

interface Entry {
  isPacked: boolean;
  isEncrypted: boolean;
  packedBytes: number;
  unpackedBytes: number;
  at: number;
}

/**
 * Reads a ZIP archive in memory, using only its central directory. Writes nothing to disk and ignores data between entries.
 */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  #leftBytes = MAX_UNPACKED_BYTES;

  /** @throws DocumentError `broken`; `too_heavy` with too many entries */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#entries = readEntries(bytes);
  }

  get names(): IterableIterator<string> {
    return this.#entries.keys();
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** @returns the whole entry; undefined if it does not exist or is larger than `maxBytes` */
  async whole(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.pieces(name)) {
      bytes += piece.length;
      if (bytes > maxBytes) return undefined;
      pieces.push(piece);
    }
    return bytes === 0 ? undefined : Buffer.concat(pieces);
  }

  /**
   * Streams the content of an entry; yields nothing if it does not exist.
   * @throws DocumentError `broken`, `encrypted`, `too_heavy`
   */
  async *pieces(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (!entry) return;
    if (entry.isEncrypted) throw new DocumentError('encrypted', 'An entry of the archive is encrypted');
    const packed = this.#packed(entry);
    if (!entry.isPacked) {
      yield this.#count(packed);
      return;
    }
    const unpack = createInflateRaw({ chunkSize: PIECE_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
    unpack.end(packed);
    try {
      for await (const piece of unpack) yield this.#count(piece as Buffer);
    } catch (error) {
      if (error instanceof DocumentError) throw error;
      throw brokenDocument('An entry of the archive cannot be unpacked', error);
    }
  }

  #count(piece: Buffer): Buffer {
    this.#leftBytes -= piece.length;
    if (this.#leftBytes < 0) throw new DocumentError('too_heavy', 'The document is too large when unpacked');
    return piece;
  }

  #packed({ at, packedBytes }: Entry): Buffer {
    const bytes = this.#bytes;
    if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL_MARK)
      throw brokenDocument('An entry of the archive is at the wrong position');
    const start = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    if (start + packedBytes > bytes.length) throw brokenDocument('An entry of the archive is cut off');
    return bytes.subarray(start, start + packedBytes);
  }
}

function readEntries(bytes: Buffer): Map<string, Entry> {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw new DocumentError('too_heavy', 'The archive has too many entries');
  const entries = new Map<string, Entry>();
  let at = bytes.readUInt32LE(end + 16);
  let packedInAll = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > end || bytes.readUInt32LE(at) !== ENTRY_MARK)
      throw brokenDocument('The directory of the archive is cut off');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const extraBytes = bytes.readUInt16LE(at + 30);
    const name = bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes).replaceAll('\\', '/');
    const entry = readEntry(bytes, at, bytes.subarray(at + ENTRY_BYTES + nameBytes).subarray(0, extraBytes));
    // With duplicate names, two readers could see different content.
    if (entries.has(name)) throw brokenDocument('Two entries of the archive have the same name');
    packedInAll += entry.packedBytes;
    // Overlapping entries are a ZIP bomb technique.
    if (packedInAll > bytes.length) throw brokenDocument('Entries of the archive overlap');
    entries.set(name, entry);
    at += ENTRY_BYTES + nameBytes + extraBytes + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function readEntry(bytes: Buffer, at: number, extra: Buffer): Entry {
  const method = bytes.readUInt16LE(at + 10);
  const wide = wideNumbers(extra);
  const number = (offset: number): number => {
    const short = bytes.readUInt32LE(at + offset);
    return short === IN_THE_EXTRA_FIELD ? (wide.shift() ?? short) : short;
  };
  // In the order of the extra field.
  const unpackedBytes = number(24);
  const packedBytes = number(20);
  const localAt = number(42);
  const isEncrypted = (bytes.readUInt16LE(at + 8) & 1) !== 0 || method === 99;
  if (!isEncrypted && method !== 0 && method !== 8)
    throw brokenDocument('An entry of the archive uses an unsupported compression');
  return { isPacked: method === 8, isEncrypted, packedBytes, unpackedBytes, at: localAt };
}

/** The values of the ZIP64 extra field. Some producers always write it. */
function wideNumbers(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const sizeBytes = extra.readUInt16LE(at + 2);
    const field = extra.subarray(at + 4, at + 4 + sizeBytes);
    if (extra.readUInt16LE(at) === 1)
      return Array.from({ length: Math.floor(field.length / 8) }, (_, index) =>
        Number(field.readBigUInt64LE(index * 8)),
      );
    at += 4 + sizeBytes;
  }
  return [];
}

function findEnd(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = bytes.length - END_BYTES; at >= lowest; at -= 1) if (bytes.readUInt32LE(at) === END_MARK) return at;
  throw brokenDocument('The archive is cut off');
}
