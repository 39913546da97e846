/** What changes the text of an answer, piece by piece, while it grows. */
export interface TextStage {
  /** A piece that is whole: nothing of it changes any more. Pieces come in their order. */
  settled(text: string): string;
  /** What comes behind the settled pieces, as it is to be shown now. @param isWhole nothing more is to come */
  open(text: string, isWhole: boolean): string;
  /** What was settled up to here stays. */
  keep(): void;
  /** What was settled since `keep` is no part of the answer. */
  retract(): void;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** `[1]`, `[1, 2]`, `[^1]`, and `【1†…】`, as some models write it. What is followed by a link's or another mark's sign is no citation. */
const MARK =
  /[ \t]?(?:\[\^?(\d{1,3}(?:[ \t]{0,2}[,，、;；][ \t]{0,2}\d{1,3}){0,9})\](?!\()|【(\d{1,3})(?:†[^】\n]{0,80})?】)/g;
const BACKTICKS = /`+/g;
const MARK_ENDS = /^[\d ,，、;；]*[\]】†]/;
/** The beginning of a mark at the end of a text. */
const MAY_BECOME_MARK = /(?:\[\^?[\d ,，、;；]{0,40}|【\d{0,3}(?:†[^】\n]{0,80})?)$/;

/**
 * Takes out of an answer the marks of sources that were not retrieved (SECURITY.md sources-were-read), and remembers which were cited.
 * What stands in code is no citation. Linear in the text.
 */
export class CitationMarks implements TextStage {
  readonly #isKnown: (number: number) => boolean;
  readonly #cited = new Set<number>();
  #fence: string | undefined;
  #kept: { cited: readonly number[]; fence: string | undefined } = { cited: [], fence: undefined };

  /** @param isKnown whether a number may stand in the answer */
  constructor(isKnown: (number: number) => boolean) {
    this.#isKnown = isKnown;
  }

  /** The numbers that stand in what is settled, or was shown as whole. */
  get cited(): ReadonlySet<number> {
    return this.#cited;
  }

  settled(text: string): string {
    const { shown, fence } = this.#through(text, this.#cited);
    this.#fence = fence;
    return shown;
  }

  open(text: string, isWhole: boolean): string {
    if (isWhole) return this.#through(text, this.#cited).shown;
    return this.#through(text.replace(MAY_BECOME_MARK, ''), new Set()).shown;
  }

  keep(): void {
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
      // Code within a line does not go on behind an empty one.
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
      shown += this.#judged(text.slice(at, from), cited) + text.slice(from, to);
      at = to;
    }
    return shown + this.#judged(text.slice(at), cited);
  }

  #judged(text: string, cited: Set<number>): string {
    return text.replace(
      MARK,
      (mark: string, inBrackets: string | undefined, inCorners: string | undefined, at: number) => {
        const numbers = (inBrackets ?? inCorners ?? '').split(/[^\d]+/).map(Number);
        const known = numbers.filter(this.#isKnown);
        for (const number of known) cited.add(number);
        // What stood around it must not become a mark of its own.
        if (known.length === 0)
          return MARK_ENDS.test(text.slice(at + mark.length, at + mark.length + 60)) ? `(${numbers[0]})` : '';
        const isAsItIs = known.length === numbers.length && inBrackets !== undefined && !mark.includes('^');
        return isAsItIs ? mark : (/^[ \t]/.exec(mark)?.[0] ?? '') + known.map((number) => `[${number}]`).join('');
      },
    );
  }
}

/** Where code stands within a line of text: between runs of as many backticks. */
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
