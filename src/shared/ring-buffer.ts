/** Size of one block. A longer text gets its own block. */
const BLOCK_BYTES = 64 * 1024;
/** Header of each text: the push time (8 bytes) and the length (4 bytes). */
const HEAD_BYTES = 12;

/** A stored text and the time when it was pushed. */
export interface TimedText {
  atMs: number;
  text: string;
}

interface Block {
  bytes: Buffer;
  /** Offset at which the next text is written. */
  end: number;
}

/**
 * FIFO queue of Latin-1 texts with timestamps, stored outside the heap. The garbage collector copies and marks objects that
 * live for a minute again and again. For a receiver under load that costs more than writing each text here and reading it
 * once.
 */
export class TimedTextBuffer implements Iterable<TimedText> {
  readonly #blocks: Block[] = [];
  /** Offset of the oldest text in the first block. */
  #head = 0;
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  /** Total size of all texts, without overhead. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Push time of the oldest text, as given by the caller; undefined if empty. */
  get oldestAtMs(): number | undefined {
    return this.#size === 0 ? undefined : this.#blocks[0]?.bytes.readDoubleLE(this.#head);
  }

  /** @param text characters up to U+00FF; of any other character only the low byte would be stored */
  push(atMs: number, text: string): void {
    const needed = HEAD_BYTES + text.length;
    let block = this.#blocks.at(-1);
    if (!block || block.end + needed > block.bytes.length) {
      block = { bytes: Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, needed)), end: 0 };
      this.#blocks.push(block);
    }
    const { bytes, end } = block;
    bytes.writeDoubleLE(atMs, end);
    bytes.writeUInt32LE(text.length, end + 8);
    bytes.write(text, end + HEAD_BYTES, 'latin1');
    block.end = end + needed;
    this.#size += 1;
    this.#bytes += text.length;
  }

  /** Removes and returns the oldest text. */
  shift(): TimedText | undefined {
    const [block] = this.#blocks;
    if (!block || this.#size === 0) return undefined;
    const oldest = readAt(block, this.#head);
    this.#head += HEAD_BYTES + oldest.text.length;
    this.#size -= 1;
    this.#bytes -= oldest.text.length;
    if (this.#head >= block.end) {
      this.#blocks.shift();
      this.#head = 0;
    }
    return oldest;
  }

  /** Oldest first. */
  *[Symbol.iterator](): Iterator<TimedText> {
    let at = this.#head;
    for (const block of this.#blocks) {
      while (at < block.end) {
        const next = readAt(block, at);
        at += HEAD_BYTES + next.text.length;
        yield next;
      }
      at = 0;
    }
  }
}

function readAt({ bytes }: Block, at: number): TimedText {
  const start = at + HEAD_BYTES;
  return { atMs: bytes.readDoubleLE(at), text: bytes.toString('latin1', start, start + bytes.readUInt32LE(at + 8)) };
}
