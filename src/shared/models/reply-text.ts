import { readCalls, type TextCall } from './read-calls.ts';
import { blockAt, createNameTest, firstOf, MAX_CALL_CHARS, partAtEnd, ticksAt, type Region } from './text-regions.ts';
import {
  type CallMark,
  ANSWER_MARKS,
  BOX_MARKS,
  CALL_MARKS,
  END_MARKS,
  endsThought,
  FOREIGN_TURNS,
  GEMMA_TURN,
  LIST_WORD,
  THOUGHT_BEGINNINGS,
  THOUGHT_CLOSES,
  THOUGHT_MARKS,
} from './reply-marks.ts';

/** Content of one chunk of an answer's text. */
export interface ParsedReply {
  thought: string;
  text: string;
  calls: TextCall[];
  /** All text that was returned before this chunk was reasoning without an opening mark. */
  retracts: boolean;
}

export interface ReplyTextOptions {
  /** Names of the tools in the request. If empty, calls are treated as text. */
  offered: ReadonlySet<string>;
  /** The model's answers begin with reasoning that has no opening mark. */
  thoughtFirst: boolean;
}

/**
 * `more` if more text follows; otherwise whether the text is complete, reached its maximum length, or was cut. At the end
 * nothing is held back any longer.
 */
export type Ending = 'more' | 'whole' | 'length' | 'cut';

/** Maximum blanks before a mark. More blanks belong to the answer. */
const MAX_BLANKS = 256;
/** Maximum characters held back because a text begins like reasoning. */
const MAX_HELD_CHARS = 4_000;
/** A call that is not marked by a special token is recognized within this number of characters. */
const MAX_CALL_START_CHARS = 200;
/** Longer chunks are read in pieces, because text behind a mark that turns out to be text is copied. */
const MAX_PIECE_CHARS = 4_096;
/** Maximum number of marks of calls that turned out to be text. Further marks are text. */
const MAX_FAILED_CALLS = 8;

const BOX_AND_TURN_MARKS = [...BOX_MARKS, ...FOREIGN_TURNS];
const MARK_SIGNS: ReadonlySet<string> = new Set(['<', '[', '{', '◁']);
/** Characters that may begin a mark, code or a line. */
const SIGN = /[<[{◁`\n]/;

/** A piece that contains the word in front of a list of calls, or ends with its beginning. */
const LIST_WORD_PART = /(?<![\w.])f(?:u|un|unc|unct|uncto|unctoo|unctool|unctools)?$|functools\[/;

/** Beginning of a call after its mark. A sentence about marks continues with words instead. */
const CALL_START = /^\s*(?:[{[<`"]|[\p{L}_][\p{L}\p{N}_.:/"-]{0,160}\s*(?:[\n<(){[>]|$))/u;
const SURE_THOUGHTS = THOUGHT_MARKS.filter(({ isWord }) => isWord === undefined);
/** Marks that may begin reasoning behind a first sentence. The others may be the tags of a document, such as `<reason>`. */
const SECOND_THOUGHTS = SURE_THOUGHTS.filter(({ open }) => /think|^<\|/i.test(open));
const SURE_OPENS = SURE_THOUGHTS.map(({ open }) => open);
const START_OPENS = [...SURE_OPENS, ...ANSWER_MARKS.map(({ open }) => open)];
const WORD_OPENS = THOUGHT_MARKS.filter(({ isWord }) => isWord).map(({ open }) => open);
const MIN_WORD_CHARS = 4;
const CALL_OPENS = CALL_MARKS.map(({ open }) => open);
const UNBOUNDED = Number.POSITIVE_INFINITY;

/**
 * Separates an answer from the reasoning and tool calls that a model wrote into its text, for engines that leave all of it
 * there. Marks may be split anywhere; text that may still become a mark is held back. Reasoning is recognized at the
 * beginning; calls are recognized anywhere except in code, and only while tools are offered. A mark that the answer only
 * mentions, in code or in a sentence, stays in the text. Linear in the length of the text.
 */
export class ReplyText {
  readonly #options: ReplyTextOptions;
  readonly #namesTool: (text: string) => boolean;
  #readsCalls: boolean;
  /** `turn`: behind an end mark. `over`: behind the beginning of another speaker's turn. */
  #place: 'start' | 'gap' | 'region' | 'text' | 'turn' | 'over' = 'start';
  #held = '';
  #region: Region | undefined;
  /** Content of the region so far. */
  #kept: string[] = [];
  #keptChars = 0;
  #hasThought = false;
  /** The engine returned the reasoning in a separate field. */
  #isNamed = false;
  /** The answer mentioned an opening mark, so it may also mention a closing one. */
  #speaksOfMarks = false;
  /** The answer itself contains the beginning of a turn, so it explains turns. */
  #speaksOfTurns = false;
  /** The closing mark that matches a mark in front of the answer. */
  #answerClose: string | undefined;
  #failedCalls = 0;
  #isInBlock = false;
  #isInCode = false;
  #isLineStart = true;
  /** The last character that was returned. */
  #last = '';
  #read = emptyRead();
  #ending: Ending = 'more';

  constructor(options: ReplyTextOptions) {
    this.#options = options;
    this.#namesTool = createNameTest(options.offered);
    this.#readsCalls = options.offered.size > 0;
  }

  /** The engine returns reasoning separately, so no text is reasoning. */
  namesThought(): void {
    this.#hasThought = this.#isNamed = true;
    if (this.#region?.kind === 'maybe-thought') this.#giveBack(this.#region, '');
  }

  /** Whether the chunk is plain text as it is; it then need not be passed to `part`. */
  passes(piece: string): boolean {
    if (this.#place !== 'text' || this.#held !== '' || this.#isInCode || SIGN.test(piece)) return false;
    // Nothing may forget what came before it.
    if (piece === '') return true;
    if (this.#readsCalls && LIST_WORD_PART.test(piece)) return false;
    this.#isLineStart &&= !/[^ ]/.test(piece);
    this.#last = piece.slice(-1);
    return true;
  }

  part(piece: string, ending: Ending = 'more'): ParsedReply {
    this.#read = emptyRead();
    let at = 0;
    for (; piece.length - at > MAX_PIECE_CHARS; at += MAX_PIECE_CHARS)
      this.#readPiece(piece.slice(at, at + MAX_PIECE_CHARS), 'more');
    this.#readPiece(piece.slice(at), ending);
    return this.#read;
  }

  #readPiece(piece: string, ending: Ending): void {
    this.#held += piece;
    this.#ending = ending;
    while (this.#step(ending !== 'more'));
  }

  /** @returns whether another step may find more */
  #step(isLast: boolean): boolean {
    if (this.#place === 'start') return this.#leaveStart(isLast);
    if (this.#place === 'region') return this.#readRegion(this.#region as Region, isLast);
    if (this.#place === 'text') return this.#readText(isLast);
    if (this.#place === 'turn') return this.#readTurn(isLast);
    if (this.#place === 'over') {
      this.#held = '';
      return false;
    }
    // The empty lines between reasoning and answer belong to neither.
    this.#held = this.#held.trimStart();
    if (this.#held !== '') this.#place = 'start';
    return this.#held !== '';
  }

  #leaveStart(isLast: boolean): boolean {
    const begun = this.#held.trimStart();
    const isFar = this.#held.length - begun.length > MAX_BLANKS;
    if (begun === '' && !isFar) {
      if (isLast) this.#place = 'text';
      return isLast && this.#held !== '';
    }
    if (!isFar && !isLast && this.#mayBecomeMark(begun)) return false;
    const answerMark = isFar ? undefined : this.#answerMarkAt(begun);
    if (answerMark) {
      this.#held = begun.slice(answerMark.open.length);
      this.#answerClose = answerMark.close ?? this.#answerClose;
      this.#hasThought = true;
      this.#place = 'gap';
      return true;
    }
    const found = isFar ? undefined : this.#regionAtStart(begun, isLast);
    if (found === 'wait') return false;
    if (found) {
      this.#held = begun;
      this.#enter(found);
    } else this.#place = 'text';
    return true;
  }

  /**
   * Marks that are ordinary words are only waited for after a few matching letters, so that an answer is not held back for
   * its first letter.
   */
  #mayBecomeMark(begun: string): boolean {
    const isTorn = (mark: string) => mark.length > begun.length && mark.startsWith(begun);
    // The character behind a closing mark distinguishes it from text.
    if (START_OPENS.some(isTorn) || THOUGHT_CLOSES.some((mark) => mark.startsWith(begun))) return true;
    if (this.#readsCalls && CALL_OPENS.some(isTorn)) return true;
    return !this.#hasThought && begun.length >= MIN_WORD_CHARS && WORD_OPENS.some(isTorn);
  }

  #answerMarkAt(begun: string): (typeof ANSWER_MARKS)[number] | undefined {
    const callMark = this.#readsCalls && CALL_OPENS.some((open) => begun.startsWith(open));
    const mark = callMark ? undefined : ANSWER_MARKS.find(({ open }) => begun.startsWith(open));
    if (mark) return this.#hasThought || isSpecial(mark.open) ? mark : undefined;
    // Remainder of reasoning that the engine extracted.
    const close = THOUGHT_CLOSES.find((one) => begun.startsWith(one) && begun.charAt(one.length) !== ' ');
    return close === undefined ? undefined : { open: close };
  }

  #regionAtStart(begun: string, isLast: boolean): Region | 'wait' | undefined {
    const thought = THOUGHT_MARKS.find(({ open }) => begun.startsWith(open));
    if (thought && thought.isWord === undefined)
      return this.#isNamed && !isSpecial(thought.open)
        ? this.#secondThoughtAt(begun)
        : { kind: 'thought', ...thought, maxChars: UNBOUNDED };
    if (this.#readsCalls) {
      const call = CALL_MARKS.find(({ open }) => begun.startsWith(open));
      if (call) return callRegion(call);
      const block = /^[{[`]/.test(begun) ? blockAt(begun, isLast) : undefined;
      if (block) return block;
    }
    if (this.#hasThought) return undefined;
    if (thought) return { kind: 'maybe-thought', ...thought, maxChars: MAX_HELD_CHARS };
    const held = { kind: 'maybe-thought', open: '', closes: THOUGHT_CLOSES } as const;
    if (this.#options.thoughtFirst) return { ...held, maxChars: UNBOUNDED };
    const lower = begun.slice(0, MAX_BEGINNING_CHARS).toLowerCase();
    return THOUGHT_BEGINNINGS.some((words) => lower.startsWith(words))
      ? { ...held, maxChars: MAX_HELD_CHARS }
      : undefined;
  }

  /** Reasoning behind the beginning of an answer. Without a closing mark it is text. */
  #secondThoughtAt(text: string): Region | undefined {
    const thought = this.#speaksOfMarks ? undefined : SECOND_THOUGHTS.find(({ open }) => text.startsWith(open));
    return thought && { kind: 'maybe-thought', ...thought, maxChars: UNBOUNDED };
  }

  /** Enters a region whose mark begins the held text. */
  #enter(region: Region): void {
    this.#held = this.#held.slice(region.open.length);
    this.#region = region;
    this.#kept = [];
    this.#keptChars = 0;
    this.#place = 'region';
  }

  #readRegion(region: Region, isLast: boolean): boolean {
    const close = firstOf(this.#held, region.closes);
    const isFollowed = region.end?.isFollowedIn(this.#held) === true;
    this.#keep(region, close?.at ?? this.#held.length - (isLast ? 0 : partAtEnd(this.#held, region.closes)));
    if (close) {
      this.#held = this.#held.slice(close.mark.length);
      this.#endRegion(region, close.mark, true);
      return true;
    }
    if (isFollowed) {
      this.#showBlock(region.open, region.end?.length ?? 0);
      return true;
    }
    // Two characters distinguish a mark from text.
    const isMore = region.kind === 'end' && this.#endsAtLast(this.#kept.join('').trimStart(), isLast);
    if (!isLast && !isMore && (this.#keptChars <= region.maxChars || this.#extendCall(region))) return false;
    this.#endRegion(region, '', isLast && !isMore);
    return true;
  }

  /** Whether the text behind an end mark is long enough to classify it. @param next that text, without leading blanks */
  #endsAtLast(next: string, isLast: boolean): boolean {
    return isLast ? next !== '' : next.length > 1 && (next === GEMMA_TURN || !GEMMA_TURN.startsWith(next));
  }

  /** Ends the answer in front of an invented turn of another speaker, and continues it with another message of the model. */
  #readTurn(isLast: boolean): boolean {
    const isTorn = (mark: string) => mark.length > this.#held.length && mark.startsWith(this.#held);
    if (!isLast && FOREIGN_TURNS.some(isTorn)) return false;
    const isForeign = FOREIGN_TURNS.some((mark) => this.#held.startsWith(mark));
    this.#place = isForeign ? 'over' : 'gap';
    return !isForeign;
  }

  #keep({ kind }: Region, length: number): void {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (taken === '') return;
    if (kind === 'thought') this.#read.thought += taken;
    else this.#kept.push(taken);
    this.#keptChars += taken.length;
  }

  /** @param close the mark that ended it, if any @param isWhole no part of the region is missing */
  #endRegion(region: Region, close: string, isWhole: boolean): void {
    const kept = this.#kept.join('');
    switch (region.kind) {
      case 'thought':
        this.#hasThought = true;
        return this.#go('gap');
      case 'maybe-thought':
        if (close === '' && !this.#isCutThought(SURE_OPENS.includes(region.open))) return this.#giveBack(region, close);
        this.#read.thought += kept;
        this.#hasThought = true;
        return this.#go('gap');
      case 'end':
        // Another message of the model, with its own marks.
        const next = kept.trimStart();
        if (!this.#speaksOfTurns && (next.startsWith('<|') || next.startsWith(GEMMA_TURN))) {
          this.#held = next + this.#held;
          return this.#go('turn');
        }
        return isWhole ? this.#go('text') : this.#giveBack(region, close);
      case 'call':
      case 'block': {
        const calls = isWhole ? this.#callsIn(region, kept) : [];
        const isTorn = close === '' && (this.#ending === 'cut' || this.#ending === 'length');
        if (calls.length === 0 && !(isTorn && this.#isTornCall(region, kept))) return this.#giveBack(region, close);
        this.#read.calls.push(...calls);
        return this.#go('gap');
      }
    }
  }

  /** A truncated call is not text. */
  #isTornCall(region: Region, kept: string): boolean {
    if (region.kind === 'block') return this.#namesTool(kept);
    return isSpecial(region.open) || kept.trim() === '' || this.#beginsCall(region, kept);
  }

  #beginsCall({ open, isWord }: Region, kept: string): boolean {
    const beginning = isSpecial(open) ? kept : kept.slice(0, MAX_CALL_START_CHARS);
    return CALL_START.test(beginning) && (isWord === undefined || this.#namesTool(beginning));
  }

  /** Raises the limit of a region that begins like a call. @returns whether it did */
  #extendCall(region: Region): boolean {
    if (region.kind !== 'call' || region.maxChars === MAX_CALL_CHARS) return false;
    region.maxChars = MAX_CALL_CHARS;
    return this.#keptChars <= MAX_CALL_CHARS && this.#beginsCall(region, this.#kept.join(''));
  }

  /** Other text follows the blocks, so they are text, and nothing in them is a mark. */
  #showBlock(open: string, length: number): void {
    this.#held = open + this.#kept.join('');
    this.#go('text');
    this.#isLineStart = false;
    this.#say(open.length + length);
  }

  /** Whether text that began like reasoning was cut before its end. */
  #isCutThought(isMarked: boolean): boolean {
    const isSure = this.#options.thoughtFirst || isMarked;
    return this.#ending === 'cut' || (this.#ending === 'length' && isSure);
  }

  #go(place: 'gap' | 'text' | 'turn'): void {
    this.#region = undefined;
    this.#kept = [];
    this.#place = place;
  }

  /** The region is text after all. Returns its first character immediately, so that it is not taken for a mark again. */
  #giveBack({ kind, open }: Region, close: string): void {
    const written = open + this.#kept.join('') + close;
    this.#held = written + this.#held;
    this.#go('text');
    const isMarked = SURE_OPENS.includes(open);
    if (isMarked) this.#speaksOfMarks = true;
    if (kind === 'maybe-thought' && !isMarked) this.#hasThought ||= this.#options.thoughtFirst;
    else {
      if (kind !== 'end' && !isMarked && (this.#failedCalls += 1) >= MAX_FAILED_CALLS) this.#readsCalls = false;
      const ticks = ticksAt(written, 0);
      if (ticks > 0) this.#countTicks(ticks);
      else this.#isLineStart = false;
      this.#say(Math.max(1, ticks));
    }
  }

  #callsIn(region: Region, kept: string): TextCall[] {
    const { kind, open, isWord } = region;
    if (kind === 'call' && !this.#beginsCall(region, kept)) return [];
    const calls = readCalls(/[=(]$/.test(open) ? open + kept : kept);
    const isOffered = ({ name }: TextCall) => this.#options.offered.has(name);
    if (kind === 'call') return isWord === undefined || calls.some(isOffered) ? calls : [];
    // An object in an answer is a call only if it names an offered tool and ends the answer.
    const isAll = /(?:[}\])]|```)\s*$/.test(kept.slice(-MAX_BLANKS));
    return isAll && calls.every(isOffered) ? calls : [];
  }

  #readText(isLast: boolean): boolean {
    let at = 0;
    while (at < this.#held.length) {
      const sign = this.#held.charAt(at);
      if (sign === '`') {
        const ticks = ticksAt(this.#held, at);
        const rest = this.#held.slice(at);
        const isBlock = ticks >= 3 && this.#isLineStart && !this.#isInBlock && this.#readsCalls;
        const block = isBlock ? blockAt(rest, isLast) : undefined;
        if (block === 'wait' || (ticks === rest.length && !isLast)) return this.#hold(at);
        if (block) return this.#enterAt(at, block);
        this.#countTicks(ticks);
        at += ticks;
        continue;
      }
      const list = sign === 'f' ? this.#listAt(at, isLast) : undefined;
      if (list === 'wait') return this.#hold(at);
      if (list) return this.#enterAt(at, list);
      if (MARK_SIGNS.has(sign) && !this.#isInBlock && !this.#isInCode) {
        const box = BOX_MARKS.find((mark) => this.#held.startsWith(mark, at));
        if (box !== undefined) {
          this.#say(at);
          this.#held = this.#held.slice(box.length);
          return true;
        }
        const found = this.#regionAt(at, isLast) ?? this.#objectAt(at, isLast);
        if (found === 'wait') return this.#hold(at);
        if (found) return this.#enterAt(at, found);
        if (this.#place !== 'text') return true;
      }
      if (sign !== '\n') this.#isLineStart &&= sign === ' ';
      else {
        // Inline code ends with its paragraph.
        if (this.#isLineStart) this.#isInCode = false;
        this.#isLineStart = true;
      }
      at += 1;
    }
    this.#say(at);
    return false;
  }

  #countTicks(ticks: number): void {
    if (ticks >= 3 && this.#isLineStart) this.#isInBlock = !this.#isInBlock;
    else if (!this.#isInBlock) this.#isInCode = !this.#isInCode;
    this.#isLineStart = false;
  }

  /** An object or list at the beginning of a line that may be a call. */
  #objectAt(at: number, isLast: boolean): Region | 'wait' | undefined {
    if (!this.#readsCalls || !this.#isLineStart || this.#place !== 'text') return undefined;
    return /[{[]/.test(this.#held.charAt(at)) ? blockAt(this.#held.slice(at), isLast) : undefined;
  }

  /** A list of calls behind its word, which is also a word of Python. */
  #listAt(at: number, isLast: boolean): Region | 'wait' | undefined {
    const before = at > 0 ? this.#held.charAt(at - 1) : this.#last;
    if (!this.#readsCalls || this.#isInBlock || this.#isInCode || /[\w.]/.test(before)) return undefined;
    const rest = this.#held.slice(at, at + MAX_MARK_CHARS);
    if (LIST_WORD.startsWith(rest)) return isLast ? undefined : 'wait';
    if (!rest.startsWith(`${LIST_WORD}[`)) return undefined;
    const list = blockAt(rest.slice(LIST_WORD.length), isLast);
    return list === undefined || list === 'wait' ? list : { ...list, open: LIST_WORD };
  }

  #regionAt(at: number, isLast: boolean): Region | 'wait' | undefined {
    if (this.#held.charAt(at) === '{') return undefined;
    const rest = this.#held.slice(at, at + MAX_MARK_CHARS);
    const ends = this.#answerClose === undefined ? END_MARKS : [...END_MARKS, this.#answerClose];
    const isTorn = (mark: string) => mark.length > rest.length && mark.startsWith(rest);
    if (!isLast) {
      if (ends.some(isTorn) || BOX_AND_TURN_MARKS.some(isTorn)) return 'wait';
      if (this.#readsCalls && CALL_OPENS.some(isTorn)) return 'wait';
      if (!this.#hasThought && [...THOUGHT_CLOSES, ...START_OPENS].some(isTorn)) return 'wait';
      if (this.#isLineStart && SECOND_THOUGHTS.some(({ open }) => isTorn(open))) return 'wait';
    }
    const call = this.#readsCalls ? CALL_MARKS.find(({ open }) => rest.startsWith(open)) : undefined;
    if (call) return callRegion(call);
    const end = ends.find((mark) => rest.startsWith(mark));
    if (end !== undefined) return { kind: 'end', open: end, closes: [], maxChars: MAX_BLANKS };
    this.#speaksOfTurns ||= FOREIGN_TURNS.some((mark) => rest.startsWith(mark));
    const again = this.#isLineStart ? this.#secondThoughtAt(rest) : undefined;
    if (again || this.#hasThought || this.#speaksOfMarks) return again;
    this.#speaksOfMarks = SURE_THOUGHTS.some(({ open }) => rest.startsWith(open));
    const close = THOUGHT_CLOSES.find((mark) => rest.startsWith(mark));
    if (close === undefined) return undefined;
    const after = this.#held.charAt(at + close.length);
    if (after === '' && !isLast) return 'wait';
    if (endsThought(at > 0 ? this.#held.charAt(at - 1) : this.#last, after)) this.#retract(at, close);
    return undefined;
  }

  /** Reclassifies all text up to here as reasoning. */
  #retract(at: number, close: string): void {
    this.#read.thought += this.#read.text + this.#held.slice(0, at);
    this.#read.text = this.#last = '';
    this.#read.retracts = true;
    this.#held = this.#held.slice(at + close.length);
    this.#hasThought = true;
    this.#go('gap');
  }

  #hold(at: number): false {
    this.#say(at);
    return false;
  }

  #enterAt(at: number, region: Region): true {
    this.#say(at);
    this.#enter(region);
    return true;
  }

  /** Returns this number of held characters. */
  #say(length: number): void {
    if (length === 0) return;
    const said = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#read.text += said;
    this.#last = said.slice(-1);
  }
}

const MAX_MARK_CHARS = 80;
const MAX_BEGINNING_CHARS = 40;

function emptyRead(): ParsedReply {
  return { thought: '', text: '', calls: [], retracts: false };
}

/** Marks of this form are special tokens that never occur as words. */
function isSpecial(mark: string): boolean {
  return /^<[|｜]/.test(mark) || mark.startsWith(GEMMA_TURN);
}

function callRegion(mark: CallMark): Region {
  return { kind: 'call', ...mark, maxChars: isSpecial(mark.open) ? MAX_CALL_CHARS : MAX_CALL_START_CHARS };
}
