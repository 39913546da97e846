/** A text of two pieces, or of so many characters, that comes again whole is no accident. */
const MIN_PIECES = 2;
const MIN_CHARS = 8;
/** Of a longer text its beginning and its end are kept, each of this length, so that streams cost little memory however long they are. */
const KEPT_CHARS = 16_384;

/**
 * The text of a stream that may come again: some engines repeat the last chunk, or end with one that sums up what was streamed.
 * Only what is new of it is handed on.
 */
export class WholeText {
  /** Of a long text; undefined while `#end` holds all of it. */
  #beginning: string | undefined;
  #end = '';
  #chars = 0;
  #pieces = 0;
  #lastChars = 0;

  /** Notes a piece in the middle of a stream. */
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
   * @param piece the text of a chunk with a finish reason, or behind one @param isSummary it stands where whole texts stand
   * @returns what of it has not come
   */
  lastPiece(piece: string, isSummary: boolean, isAfterEnd: boolean): string {
    const chars = this.#chars;
    const isWhole = isSummary || this.#pieces >= MIN_PIECES || chars >= MIN_CHARS;
    const holdsAll = chars > 0 && piece.length >= chars && piece.startsWith(this.#beginning ?? this.#end);
    const isLast = piece.length === this.#lastChars && piece.length >= MIN_CHARS;
    // Short pieces may be equal by accident, but not behind the end.
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

/** A slice would keep all of the text in memory that it was cut from. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
