/** Minimum number of pieces, or of characters, for which a full repetition is not a coincidence. */
const MIN_PIECES = 2;
const MIN_CHARS = 8;
/** Of a longer text only the beginning and the end are kept, each of this length, so that long streams use little memory. */
const KEPT_CHARS = 16_384;

/**
 * Detects repeated text in a stream: some engines repeat the last chunk, or end with a chunk that contains the whole text.
 * Returns only the new part.
 */
export class StreamedText {
  /** Beginning of a long text; undefined while `#end` contains all of it. */
  #beginning: string | undefined;
  #end = '';
  #chars = 0;
  #pieces = 0;
  #lastChars = 0;

  /** Adds a chunk from the middle of a stream. */
  add(piece: string): void {
    this.#end += piece;
    this.#chars += piece.length;
    this.#lastChars = piece.length;
    this.#pieces += 1;
    if (this.#end.length <= 2 * KEPT_CHARS) return;
    this.#beginning ??= copyOf(this.#end.slice(0, KEPT_CHARS));
    this.#end = copyOf(this.#end.slice(-KEPT_CHARS));
  }

  /**
   * @param piece the text of a chunk with a finish reason, or of a later chunk @param isSummary it is in a field for
   * complete texts
   * @returns the part of it that is new
   */
  lastPiece(piece: string, isSummary: boolean, isAfterEnd: boolean): string {
    const chars = this.#chars;
    const isWhole = isSummary || this.#pieces >= MIN_PIECES || chars >= MIN_CHARS;
    const holdsAll = chars > 0 && piece.length >= chars && piece.startsWith(this.#beginning ?? this.#end);
    const isLast = piece.length === this.#lastChars && piece.length >= MIN_CHARS;
    // Short chunks may be equal by coincidence, but not after the end.
    const isLastAgain = (isAfterEnd || isLast) && this.#endsWith(piece);
    const isRepeated = isLastAgain || (isSummary && chars > 0 && !holdsAll);
    const fresh = isRepeated ? '' : isWhole && holdsAll ? piece.slice(chars) : piece;
    if (fresh !== '') this.add(fresh);
    return fresh;
  }

  #endsWith(piece: string): boolean {
    if (piece.length <= this.#end.length) return this.#end.endsWith(piece);
    return piece.length <= this.#chars && piece.endsWith(this.#end);
  }
}

/** Copies a text, because a slice would keep the whole original text in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
