import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { inBackground } from '../../../shared/in-background.ts';
import type { LiveReply } from '../../reply/live-reply.ts';
import type { WordList, WordScan } from '../../policy/word-list.ts';
import type { ModerationVerdict } from './verdict.ts';

type View = Parameters<LiveReply['show']>[0];

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
 * Lets a view of a growing answer pass only once it is checked. Words are checked within an event loop turn; views that wait for
 * the service are replaced by newer ones, so that it is asked about one text at a time.
 */
export class ModeratedAnswer implements Pick<LiveReply, 'show'> {
  readonly #options: ModeratedAnswerOptions;
  readonly #blocking = new AbortController();
  readonly #scan: WordScan | undefined;
  #next: View | undefined;
  #isAsking = false;
  /** How much of the text is scanned, and the view that waits for that. */
  #scannedChars = 0;
  #unscanned: View | undefined;
  #isScanning = false;
  /** A view was checked in this event loop turn. */
  #hasChecked = false;
  #isJudging = false;
  #verdict: ModerationVerdict = 'allowed';

  constructor(options: ModeratedAnswerOptions) {
    this.#options = options;
    this.#scan = options.words?.begin();
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

  /**
   * The first view of an event loop turn is checked at once, and of the later ones only the newest, in the next turn. That is
   * arranged before the first one is shown, so that its first write contains both.
   */
  show(view: View): void {
    this.#unscanned = view;
    if (!this.#isScanning && !this.#hasChecked) this.#showNow(view);
  }

  #showNow(view: View): void {
    // The fields may be getters. They are read once, so that what is checked is what is shown.
    const frozen = { ...view };
    if (this.#scan && frozen.text.length - this.#scannedChars > SLICE_CHARS)
      return inBackground(() => this.#scanAndShow());
    this.#unscanned = undefined;
    if (this.#scan) {
      this.#hasChecked = true;
      setImmediate(() => inBackground(() => this.#showNewest()));
    }
    this.#showScanned(frozen);
  }

  #showNewest(): void {
    this.#hasChecked = false;
    if (this.#unscanned && !this.#isOver()) this.show(this.#unscanned);
  }

  /** A long piece is scanned in slices, between which other turns go on. A newer view replaces the one that waits. */
  async #scanAndShow(): Promise<void> {
    this.#isScanning = true;
    for (let view = this.#unscanned; view && !this.#isOver(); view = this.#unscanned) {
      this.#unscanned = undefined;
      const frozen = { ...view };
      await this.#scanSlices(frozen.text, () => this.#isJudging);
      if (!this.#isOver()) this.#showScanned(frozen);
    }
    this.#isScanning = false;
  }

  #isOver(): boolean {
    return this.#isJudging || this.isBlocked;
  }

  /** Scans all but the last slice. */
  async #scanSlices(text: string, isOver: () => boolean): Promise<void> {
    // A retracted text is scanned from the start.
    if (text.length < this.#scannedChars) this.#scannedChars = 0;
    for (let end = this.#scannedChars + SLICE_CHARS; end < text.length && !isOver(); end += SLICE_CHARS) {
      if (this.#scan?.scan(text, false, end).hasWord === true) return this.#blockByWord();
      this.#scannedChars = end;
      await nextEventLoopTurn();
    }
  }

  #showScanned(view: View): void {
    const passed = this.#pass(view);
    if (!passed) return;
    const { live, ask } = this.#options;
    if (!ask || wordsOf(passed) === '') return live.show(passed);
    this.#next = passed;
    if (!this.#isAsking) inBackground(() => this.#askAndShow(ask));
  }

  /** Judges the complete answer, also after a stop. No view that still waits is shown any more. */
  async judge(text = '', thinking = ''): Promise<ModerationVerdict> {
    this.#next = this.#unscanned = undefined;
    this.#isJudging = true;
    const { words, ask } = this.#options;
    if (this.#scan) await this.#scanSlices(text, () => this.isBlocked);
    if (this.isBlocked) return this.#verdict;
    if (this.#scan?.scan(text, true).hasWord === true || hasWord(words, thinking)) this.#blockByWord();
    else if (ask) this.#take(await ask(wordsOf({ text, thinking }), NO_ABORT));
    return this.#verdict;
  }

  /** @returns the part of the view that may be shown; undefined once the answer is blocked */
  #pass(view: View): View | undefined {
    if (this.isBlocked) return undefined;
    if (!this.#scan) return view;
    const { words } = this.#options;
    const scanned = this.#scan.scan(view.text);
    this.#scannedChars = view.text.length;
    // Only the newest part of the reasoning is in a view, so it is read again each time.
    const thought = view.thinking === undefined ? undefined : words?.begin().scan(view.thinking);
    if (scanned.hasWord || thought?.hasWord === true || hasWord(words, view.status)) {
      this.#blockByWord();
      return undefined;
    }
    return {
      ...view,
      text: view.text.slice(0, scanned.showableChars),
      thinking: view.thinking?.slice(0, thought?.showableChars),
    };
  }

  async #askAndShow(ask: NonNullable<ModeratedAnswerOptions['ask']>): Promise<void> {
    this.#isAsking = true;
    try {
      for (let view = this.#next; view && !this.isBlocked; view = this.#next) {
        this.#next = undefined;
        this.#take(await ask(wordsOf(view), this.signal));
        // Also aborted by a block.
        if (!this.signal.aborted) this.#options.live.show(view);
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
    this.#next = undefined;
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
