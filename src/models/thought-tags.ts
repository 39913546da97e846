const OPEN = '<think>';
const CLOSE = '</think>';
/** More blanks before a tag are the answer's own: they are not looked through again with each piece. */
const MOST_BLANKS = 256;

/** A piece of an answer, parted. */
export interface Parted {
  thought: string;
  text: string;
}

/**
 * Parts the thought from the text where an engine without a reasoning parser writes `<think>…</think>` at the start of its answer.
 * Tags may be cut anywhere; what may still become a tag is held back. A tag further on is the answer's own.
 */
export class ThoughtTags {
  #place: 'start' | 'thought' | 'gap' | 'text' = 'start';
  #held = '';

  /** The answer's text has begun, so pieces need not be given any more. */
  get isOver(): boolean {
    return this.#place === 'text';
  }

  /** @param isLast nothing follows, so nothing is held back any longer */
  part(piece: string, isLast: boolean): Parted {
    this.#held += piece;
    let thought = '';
    if (this.#place === 'start') this.#leaveStart(isLast);
    if (this.#place === 'thought') thought = this.#takeThought(isLast);
    if (this.#place === 'gap') this.#leaveGap();
    return { thought, text: this.#place === 'text' ? this.#take(this.#held.length) : '' };
  }

  #leaveStart(isLast: boolean): void {
    const begun = this.#held.trimStart();
    const isFar = this.#held.length - begun.length > MOST_BLANKS;
    if (!isFar && begun.startsWith(OPEN)) {
      this.#held = begun.slice(OPEN.length);
      this.#place = 'thought';
    } else if (isLast || isFar || !OPEN.startsWith(begun)) {
      this.#place = 'text';
    }
  }

  #takeThought(isLast: boolean): string {
    const end = this.#held.indexOf(CLOSE);
    if (end < 0) return this.#take(this.#held.length - (isLast ? 0 : beginningOfClose(this.#held)));
    const thought = this.#take(end);
    this.#take(CLOSE.length);
    this.#place = 'gap';
    return thought;
  }

  /** The empty lines between thought and answer belong to neither. */
  #leaveGap(): void {
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#place = 'text';
  }

  #take(letters: number): string {
    const taken = this.#held.slice(0, letters);
    this.#held = this.#held.slice(letters);
    return taken;
  }
}

/** How many letters at the text's end may become the closing tag. */
function beginningOfClose(text: string): number {
  for (let letters = Math.min(CLOSE.length - 1, text.length); letters > 0; letters -= 1)
    if (text.endsWith(CLOSE.slice(0, letters))) return letters;
  return 0;
}
