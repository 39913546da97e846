/** A text of two pieces, or of so many characters, that comes again whole is no accident. */
const MIN_PIECES = 2;
const MIN_CHARS = 8;

/**
 * The text of a stream that may come again: some engines repeat the last chunk, or end with one that sums up what was streamed.
 * Only what is new of it is handed on.
 */
export class WholeText {
  #said = '';
  #pieces = 0;
  #last = '';

  /** Notes a piece in the middle of a stream. */
  add(piece: string): void {
    this.#said += piece;
    this.#last = piece;
    this.#pieces += 1;
  }

  /**
   * @param piece the text of a chunk with a finish reason, or behind one @param isSummary it stands where whole texts stand
   * @returns what of it has not come
   */
  lastPiece(piece: string, isSummary: boolean, isAfterEnd: boolean): string {
    const said = this.#said;
    const isWhole = isSummary || this.#pieces >= MIN_PIECES || said.length >= MIN_CHARS;
    // Short pieces may be equal by accident, but not behind the end.
    const isLastAgain = isAfterEnd ? said.endsWith(piece) : piece === this.#last && piece.length >= MIN_CHARS;
    const isRepeated = isLastAgain || (isSummary && said !== '' && !piece.startsWith(said));
    const fresh = isRepeated ? '' : isWhole && said !== '' && piece.startsWith(said) ? piece.slice(said.length) : piece;
    if (fresh !== '') this.add(fresh);
    return fresh;
  }
}
