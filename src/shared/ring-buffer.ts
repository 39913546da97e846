/** So much is taken from the system at once; a longer text gets a block of its own. */
const BLOCK_BYTES = 64 * 1024;
/** Before each text: when it was pushed (8 bytes) and how long it is (4). */
const HEAD_BYTES = 12;

/** One text that was kept, and when it was pushed. */
export interface TimedText {
  atMs: number;
  text: string;
}

interface Block {
  bytes: Buffer;
  /** Where the next text is written. */
  end: number;
}

/**
 * First in, first out, of texts in Latin-1 with the time of each, outside of the heap: what lives for a minute is copied and marked by
 * the garbage collector again and again, which costs a receiver under load more than to write it down here and to read it once.
 */
export class TimedTexts implements Iterable<TimedText> {
  readonly #blocks: Block[] = [];
  /** Where the oldest stands in the first block. */
  #head = 0;
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  /** Of all texts together, without what it takes to keep them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the oldest was pushed, as it was told; undefined where there is none. */
  get oldestAtMs(): number | undefined {
    return this.#size === 0 ? undefined : this.#blocks[0]?.bytes.readDoubleLE(this.#head);
  }

  /** @param text of characters up to U+00FF; of another one only its low byte would be kept */
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

  /** Takes the oldest out. */
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

  /** The oldest first. */
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
