import type { TextStage } from './citation-marks.ts';

/** A link as models write them; what is written in another way is only parted. */
const PLAIN_LINK = /!?\[([^[\]\n]{1,300})\]\((https?:\/\/[^\s()<>[\]]{1,2000})\)/gi;
/** Whatever else gives a label an address: brackets, the next line, quotes and definitions in another place. Behind an empty line there is no link any more. */
const LABEL_END = /\](?=[(:](?:[^\S\n]|[<>]|\n(?!\n))*(https?:\/\/[^\s)>\]]{0,2000})([\s)>\]])?)/gi;
/** Where nothing that was begun before goes on, in markdown. */
const PARAGRAPH_END = '\n\n';
/** A text without an empty line is judged in parts where it is longer. */
const MOST_OPEN_CHARS = 8_192;
/** New text after which a long paragraph is looked at again. */
const STEP_CHARS = 1_024;
/** A label and an address that may yet grow at the end of a text. */
const TAIL_CHARS = 2_400;
/** `[1, 2]` is not parted. */
const SHORT_MARK_CHARS = 60;
/** Blanks between a label and its address, beyond which they are parted. */
const MAX_WAITING_CHARS = 32_768;

/**
 * The text of an answer while it grows. Once a tool found something, an instruction hidden there may have the model write a link
 * that carries what was said here to the instruction's writer. So from then on a link to a host that neither a person nor a tool
 * named shows its address in full: its label is put before it. What was said before is left as it was.
 */
export class NamedLinks {
  #done = '';
  /** What may yet turn out to be a link. */
  #open = '';
  /** Undefined while no tool found anything. */
  #hosts: ReadonlySet<string> | undefined;
  #nextStepChars = MOST_OPEN_CHARS;
  readonly #after: TextStage | undefined;
  /** How much was said in earlier rounds. */
  #earlierChars = 0;

  /** @param after what changes the text behind this */
  constructor(after?: TextStage) {
    this.#after = after;
  }

  /** What is said so far, as it is to be shown while more is to come. */
  get text(): string {
    return this.#done + this.#shown(false);
  }

  add(delta: string): void {
    const before = Math.max(0, this.#open.length - 1);
    this.#open += delta;
    const end = this.#open.slice(before).lastIndexOf(PARAGRAPH_END);
    if (end >= 0) this.#settle(before + end + PARAGRAPH_END.length);
    else if (this.#open.length > this.#nextStepChars) this.#settleBeginning();
  }

  /** Settles what no link that grows at the end can belong to. */
  #settleBeginning(): void {
    const end = placeBetween(this.#open, this.#open.length - TAIL_CHARS);
    if (end > 0) this.#settle(end);
    else if (this.#open.length > MAX_WAITING_CHARS) {
      this.#open = this.#open.replace(/\](?=[(:])/, '] ');
      this.#settle(this.#open.length);
    }
    this.#nextStepChars = Math.max(MOST_OPEN_CHARS, this.#open.length + STEP_CHARS);
  }

  /** The whole text; nothing more is to come. */
  whole(): string {
    return this.#done + this.#shown(true);
  }

  /** Takes back what was said in this round of the answer. */
  retract(): void {
    this.#done = this.#done.slice(0, this.#earlierChars);
    this.#open = '';
    this.#nextStepChars = MOST_OPEN_CHARS;
    this.#after?.retract();
  }

  /** @param hosts what people wrote and tools found so far */
  toldBy(hosts: ReadonlySet<string>): void {
    this.#settle(this.#open.length);
    this.#earlierChars = this.#done.length;
    this.#after?.keep();
    this.#hosts = new Set(hosts);
  }

  #settle(length: number): void {
    const rest = this.#open.slice(length);
    this.#nextStepChars = MOST_OPEN_CHARS;
    this.#open = this.#open.slice(0, length);
    const judged = this.#judged(true);
    this.#done += this.#after?.settled(judged) ?? judged;
    this.#open = rest;
  }

  #shown(isWhole: boolean): string {
    const judged = this.#judged(isWhole);
    return this.#after?.open(judged, isWhole) ?? judged;
  }

  #judged(isWhole: boolean): string {
    const hosts = this.#hosts;
    if (!hosts || !this.#open.includes(']')) return this.#open;
    return this.#open
      .replace(PLAIN_LINK, (link: string, label: string, address: string) =>
        label === address || isNamed(address, hosts) ? link : `${label} (${address})`,
      )
      .replace(LABEL_END, (sign: string, address: string, end: string | undefined, at: number, text: string) => {
        // The address may yet go on.
        if (!isWhole && end === undefined && text.endsWith(address)) return sign;
        const isItsOwnLabel = text.slice(0, at).endsWith(`[${address}`);
        return isItsOwnLabel || isNamed(address, hosts) ? sign : '］';
      });
  }
}

function isNamed(address: string, hosts: ReadonlySet<string>): boolean {
  return URL.canParse(address) && hosts.has(new URL(address).hostname);
}

/** A place at or before `end` that parts no label from its address: behind a line, else behind a blank, else before a bracket. */
function placeBetween(text: string, end: number): number {
  const limit = beginningOfLink(text, end);
  const line = text.lastIndexOf('\n', limit - 1) + 1;
  const place =
    line > limit - TAIL_CHARS && line > 0 ? line : Math.max(text.lastIndexOf(' ', limit - 1) + 1, limit - TAIL_CHARS);
  const bracket = text.lastIndexOf('[', place - 1);
  const isOpen = bracket >= Math.max(0, place - SHORT_MARK_CHARS) && !text.slice(bracket, place).includes(']');
  return beginningOfLink(text, isOpen ? bracket : place);
}

/** `end`, or the bracket before it behind which an address may still follow. */
function beginningOfLink(text: string, end: number): number {
  const start = text.slice(0, end);
  const bracket = start.lastIndexOf(']');
  if (bracket < 0) return end;
  const behind = start.slice(bracket + 1);
  if (behind === '') return bracket;
  if (!/^[(:]/.test(behind)) return end;
  const address = behind.slice(1).replace(/^[\s<>]*/, '');
  return address.length <= TAIL_CHARS && !/\s/.test(address) ? bracket : end;
}
