import type { TextStage } from './citation-marks.ts';

/** A link as models write them; what is written in another way is only parted. */
const PLAIN_LINK = /!?\[([^[\]\n]{1,300})\]\((https?:\/\/[^\s()<>[\]]{1,2000})\)/gi;
/** Whatever else gives a label an address: brackets, the next line, quotes and definitions in another place. Behind an empty line there is no link any more. */
const LABEL_END = /\](?=[(:](?:[^\S\n]|[<>]|\n(?!\n))*(https?:\/\/[^\s)>\]]{0,2000})([\s)>\]])?)/gi;
const ADDRESS = /https?:\/\/[^\s<>"'()[\]]{1,2000}/gi;
const BARE_HOST = /(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}\.){1,8}[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{1,62}/gu;
/** Where nothing that was begun before goes on, in markdown. */
const PARAGRAPH_END = '\n\n';
/** A link that is not whole at the end of a text. */
const MAY_GO_ON = /\[[^\n]{0,2000}$|\][(:][\s<>]*[^\s]{0,2000}$/;
/** A text without an empty line is judged once for all where it is longer. */
const MOST_OPEN_CHARS = 8_192;

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
    this.#open += delta;
    const end = this.#open.lastIndexOf(PARAGRAPH_END);
    if (end >= 0) this.#settle(end + PARAGRAPH_END.length);
    else if (this.#open.length > MOST_OPEN_CHARS && !MAY_GO_ON.test(this.#open)) this.#settle(this.#open.length);
  }

  /** The whole text; nothing more is to come. */
  whole(): string {
    return this.#done + this.#shown(true);
  }

  /** Takes back what was said in this round of the answer. */
  retract(): void {
    this.#done = this.#done.slice(0, this.#earlierChars);
    this.#open = '';
    this.#after?.retract();
  }

  /** @param texts what people wrote and tools found so far */
  toldBy(texts: readonly string[]): void {
    this.#settle(this.#open.length);
    this.#earlierChars = this.#done.length;
    this.#after?.keep();
    this.#hosts = hostsIn(texts);
  }

  #settle(length: number): void {
    const rest = this.#open.slice(length);
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

function hostsIn(texts: readonly string[]): ReadonlySet<string> {
  const hosts = new Set<string>();
  const add = (address: string) => URL.canParse(address) && hosts.add(new URL(address).hostname);
  for (const text of texts) {
    for (const address of text.match(ADDRESS) ?? []) add(address);
    for (const host of text.match(BARE_HOST) ?? []) add(`https://${host}`);
  }
  return hosts;
}
