import type { TextStage } from './citation-marks.ts';

/** An inline link as models usually write it. Other forms of links are only broken apart. */
const PLAIN_LINK = /!?\[([^[\]\n]{1,300})\]\((https?:\/\/[^\s()<>[\]]{1,2000})\)/gi;
/**
 * Any other syntax that connects a label to an address: brackets, line breaks, quotes and reference definitions. An empty
 * line ends a link.
 */
const LABEL_END = /\](?=[(:](?:[^\S\n]|[<>]|\n(?!\n))*(https?:\/\/[^\s)>\]]{0,2000})([\s)>\]])?)/gi;
/** In markdown, constructs do not continue after an empty line. */
const PARAGRAPH_END = '\n\n';
/** A longer text without an empty line is processed in parts. */
const MAX_OPEN_CHARS = 8_192;
/** Amount of new text after which a long paragraph is processed again. */
const STEP_CHARS = 1_024;
/** Maximum length of a label and an address that may still grow at the end of the text. */
const TAIL_CHARS = 2_400;
/** `[1, 2]` is not split. */
const SHORT_MARK_CHARS = 60;
/** Maximum whitespace between a label and its address; beyond it they are separated. */
const MAX_WAITING_CHARS = 32_768;

/**
 * The text of an answer while it is streamed. A tool result may contain a hidden instruction that makes the model leak the
 * conversation in a link to the attacker. After the first tool result, a link to a host that neither a person nor a tool
 * named therefore shows its full address after the label. Earlier text remains unchanged.
 */
export class NamedLinks {
  #done = '';
  /** Text that may still become a link. */
  #open = '';
  /** Whether the newest text ends with a line break. */
  #endsLine = false;
  /** Undefined until a tool has returned results. */
  #hosts: ReadonlySet<string> | undefined;
  #nextStepChars = MAX_OPEN_CHARS;
  readonly #nextStage: TextStage | undefined;
  /** Length of the text of earlier rounds. */
  #earlierChars = 0;

  /** @param after transforms the text after this class */
  constructor(after?: TextStage) {
    this.#nextStage = after;
  }

  /** The text so far, as displayed while more text follows. */
  get text(): string {
    return this.#done + this.#shown(false);
  }

  add(delta: string): void {
    if (delta === '') return;
    // Only the new text is read: reading `#open`, to which V8 has only noted the additions, would copy it with every token.
    const newest = this.#endsLine && this.#open !== '' ? `\n${delta}` : delta;
    const end = newest.lastIndexOf(PARAGRAPH_END);
    this.#endsLine = delta.endsWith('\n');
    this.#open += delta;
    if (end >= 0) this.#settle(this.#open.length - newest.length + end + PARAGRAPH_END.length);
    else if (this.#open.length > this.#nextStepChars) this.#settleBeginning();
  }

  /** Settles the prefix that no link growing at the end can include. */
  #settleBeginning(): void {
    const end = placeBetween(this.#open, this.#open.length - TAIL_CHARS);
    if (end > 0) this.#settle(end);
    else if (this.#open.length > MAX_WAITING_CHARS) {
      this.#open = this.#open.replace(/\](?=[(:])/, '] ');
      this.#settle(this.#open.length);
    }
    this.#nextStepChars = Math.max(MAX_OPEN_CHARS, this.#open.length + STEP_CHARS);
  }

  /** The complete text; no more text follows. */
  completeText(): string {
    return this.#done + this.#shown(true);
  }

  /** Discards the text of this round of the answer. */
  retract(): void {
    this.#done = this.#done.slice(0, this.#earlierChars);
    this.#open = '';
    this.#nextStepChars = MAX_OPEN_CHARS;
    this.#nextStage?.retract();
  }

  /** @param hosts hosts named by people and tools so far */
  allowHosts(hosts: ReadonlySet<string>): void {
    this.#settle(this.#open.length);
    this.#earlierChars = this.#done.length;
    this.#nextStage?.commit();
    this.#hosts = new Set(hosts);
  }

  #settle(length: number): void {
    const rest = this.#open.slice(length);
    this.#nextStepChars = MAX_OPEN_CHARS;
    this.#open = this.#open.slice(0, length);
    const judged = this.#exposeUnnamedHosts(true);
    this.#done += this.#nextStage?.transformSettled(judged) ?? judged;
    this.#open = rest;
  }

  #shown(isWhole: boolean): string {
    const judged = this.#exposeUnnamedHosts(isWhole);
    return this.#nextStage?.transformOpen(judged, isWhole) ?? judged;
  }

  #exposeUnnamedHosts(isWhole: boolean): string {
    const hosts = this.#hosts;
    if (!hosts || !this.#open.includes(']')) return this.#open;
    return this.#open
      .replace(PLAIN_LINK, (link: string, label: string, address: string) =>
        label === address || isNamed(address, hosts) ? link : `${label} (${address})`,
      )
      .replace(LABEL_END, (sign: string, address: string, end: string | undefined, at: number, text: string) => {
        // The address may still continue.
        if (!isWhole && end === undefined && text.endsWith(address)) return sign;
        const isItsOwnLabel = text.slice(0, at).endsWith(`[${address}`);
        return isItsOwnLabel || isNamed(address, hosts) ? sign : '］';
      });
  }
}

function isNamed(address: string, hosts: ReadonlySet<string>): boolean {
  return URL.canParse(address) && hosts.has(new URL(address).hostname);
}

/**
 * A position at or before `end` that separates no label from its address: after a line, else after a space, else before a
 * bracket.
 */
function placeBetween(text: string, end: number): number {
  const limit = beginningOfLink(text, end);
  const line = text.lastIndexOf('\n', limit - 1) + 1;
  const place =
    line > limit - TAIL_CHARS && line > 0 ? line : Math.max(text.lastIndexOf(' ', limit - 1) + 1, limit - TAIL_CHARS);
  const bracket = text.lastIndexOf('[', place - 1);
  const isOpen = bracket >= Math.max(0, place - SHORT_MARK_CHARS) && !text.slice(bracket, place).includes(']');
  return beginningOfLink(text, isOpen ? bracket : place);
}

/** `end`, or the position of the preceding bracket if an address may still follow it. */
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
