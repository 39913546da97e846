import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { inBackground } from '../../../shared/in-background.ts';
import type { ReplyView } from '../../domain/reply.ts';
import type { LiveReply } from '../../reply/live-reply.ts';
import type { WordList, WordScan } from '../../policy/word-list.ts';
import type { ModerationVerdict } from './verdict.ts';

type View = Pick<ReplyView, 'text' | 'status' | 'thinking'>;

/** A slice takes about ten milliseconds. */
export const SLICE_CHARS = 8_192;

/** Thrown when an answer contains forbidden content; aborts the model call. */
export class BlockedAnswerError extends Error {}

/** Thrown when a prompt contains forbidden content; ends the turn before a model is called. */
export class BlockedPromptError extends Error {
  readonly verdict: Exclude<ModerationVerdict, 'allowed'>;

  constructor(verdict: BlockedPromptError['verdict']) {
    super('The prompt contains what must not be sent');
    this.verdict = verdict;
  }
}

export interface ModeratedAnswerOptions {
  live: Pick<LiveReply, 'show'>;
  words: WordList | undefined;
  /** Asks the service about the text so far. */
  ask: ((text: string, signal: AbortSignal) => Promise<ModerationVerdict>) | undefined;
  /** Called once, when a word blocks the answer. */
  onWord(): void;
  /** Of the turn. */
  signal: AbortSignal;
}

/**
 * Lets a view of a growing answer pass only once it is checked. Words are checked when the reply reads the view to write it, not
 * with every token. Views that wait for the service are replaced by newer ones, so that it is asked about one text at a time.
 */
export class ModeratedAnswer implements Pick<LiveReply, 'show'> {
  readonly #options: ModeratedAnswerOptions;
  readonly #blocking = new AbortController();
  readonly #scan: WordScan | undefined;
  #newest: View = { text: '' };
  /** The newest view as far as it may be shown. Reading a field checks it, which can block the answer. */
  readonly #checked: View;
  /** What passed the last check: shown while a long piece is scanned, and after a block. */
  readonly #passed: View = { text: '' };
  #isScanning = false;
  /** The newest view waits for the service. */
  #isWaiting = false;
  #isAsking = false;
  /** What the service allowed last. */
  #allowed = '';
  #isJudging = false;
  #verdict: ModerationVerdict = 'allowed';

  constructor(options: ModeratedAnswerOptions) {
    this.#options = options;
    this.#scan = options.words?.begin();
    const checks = {
      text: () => this.#checkedText(),
      status: () => this.#checkedStatus(),
      thinking: () => this.#checkedThinking(),
    };
    this.#checked = {
      get text() {
        return checks.text();
      },
      get status() {
        return checks.status();
      },
      get thinking() {
        return checks.thinking();
      },
    };
    // AbortSignal.any costs several times as much.
    const { signal } = options;
    if (signal.aborted) this.#blocking.abort(signal.reason);
    else signal.addEventListener('abort', () => this.#blocking.abort(signal.reason), { once: true });
  }

  /** Aborted with the turn, and by a block. */
  get signal(): AbortSignal {
    return this.#blocking.signal;
  }

  get isBlocked(): boolean {
    return this.#verdict !== 'allowed';
  }

  show(view: View): void {
    if (this.#isOver()) return;
    this.#newest = view;
    this.#offer();
  }

  /** Without a service the reply gets the view whose fields are checked when they are read; with one, a copy that it allowed. */
  #offer(): void {
    const { live, ask } = this.#options;
    if (!ask) return live.show(this.#checked);
    this.#isWaiting = true;
    // An error of a check is met again by `judge`, which ends the turn with it.
    if (!this.#isAsking) inBackground(() => this.#askAndShow(ask));
  }

  /** Looks for words in the text at once, before a tool runs because of it. */
  check(): void {
    if (this.#scan) this.#checkedText();
  }

  #isOver(): boolean {
    return this.#isJudging || this.isBlocked;
  }

  /** A long piece is scanned in slices, between which other turns go on. */
  async #scanAndOffer(scan: WordScan): Promise<void> {
    this.#isScanning = true;
    await this.#scanSlices(scan, this.#newest.text, () => this.#isOver());
    this.#isScanning = false;
    if (this.#isOver()) return;
    // Now, if possible: until the next write, the text may be more than a slice ahead again.
    this.#checkedText();
    if (!this.#isOver()) this.#offer();
  }

  /** Scans all but the last slice. */
  async #scanSlices(scan: WordScan, text: string, isOver: () => boolean): Promise<void> {
    for (let end = scan.readChars(text) + SLICE_CHARS; end < text.length && !isOver(); end += SLICE_CHARS) {
      if (scan.scan(text, false, end).hasWord) return this.#blockByWord();
      await nextEventLoopTurn();
    }
  }

  /** Judges the complete answer, also after a stop. No view that still waits is shown any more. */
  async judge(text = '', thinking = ''): Promise<ModerationVerdict> {
    this.#isWaiting = false;
    this.#isJudging = true;
    const { words, ask } = this.#options;
    if (this.#scan) await this.#scanSlices(this.#scan, text, () => this.isBlocked);
    if (this.isBlocked) return this.#verdict;
    if (this.#scan?.scan(text, true).hasWord === true || hasWord(words, thinking)) this.#blockByWord();
    else if (ask) this.#take(await ask(wordsOf({ text, thinking }), NO_ABORT));
    return this.#verdict;
  }

  #checkedText(): string {
    const passed = this.#passed;
    if (this.#isOver() || this.#isScanning) return passed.text;
    const { text } = this.#newest;
    const scan = this.#scan;
    if (!scan) return (passed.text = text);
    if (text.length - scan.readChars(text) > SLICE_CHARS) {
      inBackground(() => this.#scanAndOffer(scan));
      return passed.text;
    }
    const { hasWord: isListed, showableChars } = scan.scan(text);
    if (isListed) this.#blockByWord();
    else passed.text = text.slice(0, showableChars);
    return passed.text;
  }

  #checkedStatus(): string | undefined {
    const passed = this.#passed;
    if (this.#isOver()) return passed.status;
    const { status } = this.#newest;
    if (status !== passed.status && hasWord(this.#options.words, status)) this.#blockByWord();
    else passed.status = status;
    return passed.status;
  }

  /** Only the newest part of the reasoning is in a view, so it is read again each time. */
  #checkedThinking(): string | undefined {
    const passed = this.#passed;
    if (this.#isOver()) return passed.thinking;
    const { thinking } = this.#newest;
    const scanned = thinking === undefined ? undefined : this.#options.words?.begin().scan(thinking);
    if (scanned?.hasWord === true) this.#blockByWord();
    else passed.thinking = thinking?.slice(0, scanned?.showableChars);
    return passed.thinking;
  }

  async #askAndShow(ask: NonNullable<ModeratedAnswerOptions['ask']>): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#isWaiting) {
        this.#isWaiting = false;
        // Read once, so that what the service judges is what is shown.
        const view = { ...this.#checked };
        if (this.#isOver()) return;
        const words = wordsOf(view);
        if (words !== '' && words !== this.#allowed) this.#take(await ask(words, this.signal));
        // Also aborted by a block.
        if (this.signal.aborted) return;
        if (words !== '') this.#allowed = words;
        this.#options.live.show(view);
      }
    } finally {
      this.#isAsking = false;
    }
  }

  #blockByWord(): void {
    if (this.isBlocked) return;
    this.#options.onWord();
    this.#take('blocked');
  }

  #take(verdict: ModerationVerdict): void {
    if (verdict === 'allowed' || this.isBlocked) return;
    this.#verdict = verdict;
    this.#isWaiting = false;
    this.#blocking.abort(new BlockedAnswerError('The answer contains what must not be shown'));
  }
}

/** The call has a time limit of its own. */
const NO_ABORT = new AbortController().signal;

function hasWord(words: WordList | undefined, text = ''): boolean {
  return text !== '' && words?.begin().scan(text, true).hasWord === true;
}

function wordsOf({ text, thinking = '' }: Pick<View, 'text' | 'thinking'>): string {
  return `${thinking}\n${text}`.trim();
}
