/** Transforms the text of an answer incrementally while it is streamed. */
export interface TextStage {
  /** Transforms a final segment. Segments arrive in order. */
  transformSettled(text: string): string;
  /** Transforms the text after the settled segments for display. @param isWhole no more text follows */
  transformOpen(text: string, isWhole: boolean): string;
  /** Makes the text settled so far permanent. */
  commit(): void;
  /** Discards the text settled since `keep`. */
  retract(): void;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/**
 * `[1]`, `[1, 2]`, `[^1]` and `【1†…】`, as some models write it. A mark followed by the syntax of a link or another mark is
 * not a citation.
 */
const MARK =
  /[ \t]?(?:\[\^?(\d{1,3}(?:[ \t]{0,2}[,，、;；][ \t]{0,2}\d{1,3}){0,9})\](?!\()|【(\d{1,3})(?:†[^】\n]{0,80})?】)/g;
const BACKTICKS = /`+/g;
const MARK_ENDS = /^[\d ,，、;；]*[\]】†]/;
/** An incomplete mark at the end of a text. */
const MAY_BECOME_MARK = /(?:\[\^?[\d ,，、;；]{0,40}|【\d{0,3}(?:†[^】\n]{0,80})?)$/;

/**
 * Removes marks of sources that were not retrieved from an answer (SECURITY.md sources-were-read), and records the cited
 * sources. Marks in code are not citations. Linear in the text.
 */
export class CitationMarks implements TextStage {
  readonly #isKnown: (number: number) => boolean;
  readonly #cited = new Set<number>();
  #fence: string | undefined;
  #kept: { cited: readonly number[]; fence: string | undefined } = { cited: [], fence: undefined };

  /** @param isKnown whether a number may appear in the answer */
  constructor(isKnown: (number: number) => boolean) {
    this.#isKnown = isKnown;
  }

  /** Numbers cited in settled text or in text shown as complete. */
  get cited(): ReadonlySet<number> {
    return this.#cited;
  }

  transformSettled(text: string): string {
    const { shown, fence } = this.#through(text, this.#cited);
    this.#fence = fence;
    return shown;
  }

  transformOpen(text: string, isWhole: boolean): string {
    if (isWhole) return this.#through(text, this.#cited).shown;
    return this.#through(text.replace(MAY_BECOME_MARK, ''), new Set()).shown;
  }

  commit(): void {
    this.#kept = { cited: [...this.#cited], fence: this.#fence };
  }

  retract(): void {
    this.#cited.clear();
    for (const number of this.#kept.cited) this.#cited.add(number);
    this.#fence = this.#kept.fence;
  }

  #through(text: string, cited: Set<number>): { shown: string; fence: string | undefined } {
    let fence = this.#fence;
    let shown = '';
    let prose = '';
    const endProse = () => {
      shown += this.#inProse(prose, cited);
      prose = '';
    };
    for (const line of text.split(/(?<=\n)/)) {
      const [, sign] = FENCE.exec(line) ?? [];
      const isFence = sign !== undefined && (fence === undefined || sign.startsWith(fence));
      if (isFence || fence !== undefined) {
        endProse();
        shown += line;
      } else prose += line;
      // Inline code does not continue after an empty line.
      if (line === '\n') endProse();
      if (isFence) fence = fence === undefined ? sign : undefined;
    }
    endProse();
    return { shown, fence };
  }

  #inProse(text: string, cited: Set<number>): string {
    if (!/[[【]/.test(text)) return text;
    let shown = '';
    let at = 0;
    for (const { from, to } of codeSpans(text)) {
      shown += this.#filterMarks(text.slice(at, from), cited) + text.slice(from, to);
      at = to;
    }
    return shown + this.#filterMarks(text.slice(at), cited);
  }

  #filterMarks(text: string, cited: Set<number>): string {
    return text.replace(
      MARK,
      (mark: string, inBrackets: string | undefined, inCorners: string | undefined, at: number) => {
        const numbers = (inBrackets ?? inCorners ?? '').split(/[^\d]+/).map(Number);
        const known = numbers.filter(this.#isKnown);
        for (const number of known) cited.add(number);
        // The surrounding text must not combine into a new mark.
        if (known.length === 0)
          return MARK_ENDS.test(text.slice(at + mark.length, at + mark.length + 60)) ? `(${numbers[0]})` : '';
        const isAsItIs = known.length === numbers.length && inBrackets !== undefined && !mark.includes('^');
        return isAsItIs ? mark : (/^[ \t]/.exec(mark)?.[0] ?? '') + known.map((number) => `[${number}]`).join('');
      },
    );
  }
}

/** Positions of inline code: text between two equally long runs of backticks. */
function codeSpans(text: string): { from: number; to: number }[] {
  const runs = [...text.matchAll(BACKTICKS)].map(({ 0: run, index }) => ({ from: index, length: run.length }));
  const ofLength = new Map<number, number[]>();
  runs.forEach(({ length }, position) => {
    const alike = ofLength.get(length);
    if (alike) alike.push(position);
    else ofLength.set(length, [position]);
  });
  const spans: { from: number; to: number }[] = [];
  const passed = new Map<number, number>();
  for (let position = 0; position < runs.length;) {
    const { from, length } = runs[position]!;
    const alike = ofLength.get(length)!;
    let next = passed.get(length) ?? 0;
    while (next < alike.length && alike[next]! <= position) next += 1;
    passed.set(length, next);
    const closing = alike[next];
    if (closing === undefined) {
      position += 1;
      continue;
    }
    spans.push({ from, to: runs[closing]!.from + length });
    position = closing + 1;
  }
  return spans;
}
