import { asObject, endOfJson, parseJson, type JsonObject } from './json-scan.ts';

/** A piece of a tool call; the first piece names it, later ones append to its arguments. */
export interface ToolCallPiece {
  index: number | undefined;
  callId: string | undefined;
  name: string | undefined;
  argumentsJson: string;
}

/** A call of a tool, put together. The id is empty where the engine gave none. */
export interface PiecedCall {
  callId: string;
  name: string;
  argumentsJson: string;
}

/** Reads the calls of a reply: the pieces of a stream, or the whole calls of a message, each of which is a call of its own. */
export function readCallPieces(reply: JsonObject | undefined, isWhole: boolean): readonly ToolCallPiece[] {
  const given = reply?.['tool_calls'] ?? reply?.['function_call'];
  if (typeof given !== 'object' || given === null) return NO_PIECES;
  return [given].flat().map((call: unknown, position) => {
    const piece = asObject(call);
    const declared = asObject(piece?.['function']) ?? piece;
    const index = Number(piece?.['index'] ?? Number.NaN);
    return {
      index: isWhole ? position : Number.isInteger(index) ? index : undefined,
      callId: asText(piece?.['id']) || undefined,
      name: asText(declared?.['name']) || undefined,
      argumentsJson: asArguments(declared?.['arguments'] ?? declared?.['parameters']),
    };
  });
}

/** JSON text, as the interface is described; some engines send the object itself, which is whole then. */
function asArguments(given: unknown): string {
  return asObject(given) ? JSON.stringify(given) : asText(given);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const NO_PIECES: readonly ToolCallPiece[] = [];

interface OpenCall {
  callId: string;
  name: string;
  pieces: string[];
}

/** More calls than this in one answer is a runaway model; further ones are left out. */
const MAX_CALLS = 64;
/** Arguments that were sent again from the start begin in one of the last pieces. */
const MAX_BEGINNINGS = 8;

/** Puts the calls of one answer together from their pieces, whatever an engine leaves out of them or repeats. */
export class CallPieces {
  readonly #calls = new Map<number, OpenCall>();
  /** Under which of our keys the newest call of an index of the engine's is. */
  readonly #keysByIndex = new Map<number, number>();
  #lastKey: number | undefined;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(piece: ToolCallPiece): void {
    const key = this.#keyOf(piece);
    if (piece.index !== undefined) this.#keysByIndex.set(piece.index, key);
    this.#lastKey = key;
    const known = this.#calls.get(key);
    const { callId = '', name = '', argumentsJson } = piece;
    if (known) {
      known.pieces.push(argumentsJson);
      known.callId ||= callId;
      known.name ||= name;
    } else if (this.#calls.size < MAX_CALLS) {
      this.#calls.set(key, { callId, name, pieces: [argumentsJson] });
    }
  }

  /** Adds the calls of a message that sums the stream up: only those that have not come. */
  addSummary(pieces: readonly ToolCallPiece[]): void {
    const known = this.list();
    for (const piece of pieces) {
      const isKnown = known.some(
        ({ callId, name, argumentsJson }) =>
          (piece.callId !== undefined && callId === piece.callId) ||
          (name === piece.name && sameJson(argumentsJson, piece.argumentsJson)),
      );
      if (!isKnown) this.add({ ...piece, index: undefined, callId: piece.callId ?? `summary-${this.#freeKey()}` });
    }
  }

  /** The calls that were named, in their order; the same call once. */
  list(): PiecedCall[] {
    const calls: PiecedCall[] = [];
    for (const { callId, name, pieces } of this.#calls.values()) {
      // What was never named cannot be called.
      if (name === '') continue;
      const argumentsJson = argumentsOf(pieces);
      const isRepeated = calls.some(
        (other) =>
          other.name === name &&
          (callId === '' || other.callId === '' || other.callId === callId) &&
          sameJson(other.argumentsJson, argumentsJson),
      );
      if (!isRepeated) calls.push({ callId, name, argumentsJson });
    }
    return calls;
  }

  /**
   * Which call a piece belongs to. Engines that leave the index out start each call with its id, or only with its name;
   * some give every call the same index and tell them apart by their ids or names alone.
   */
  #keyOf({ index, callId, name, argumentsJson }: ToolCallPiece): number {
    const current = index === undefined ? this.#lastKey : this.#keysByIndex.get(index);
    const known = current === undefined ? undefined : this.#calls.get(current);
    if (current === undefined || known === undefined)
      return index === undefined || this.#calls.has(index) ? this.#freeKey() : index;
    if (callId === undefined) return beginsAnother(known, name, argumentsJson) ? this.#freeKey() : current;
    if (known.callId === callId) return current;
    const named = this.#keyOfId(callId);
    if (named !== undefined) return named;
    if (known.callId === '') return beginsAnother(known, name, argumentsJson) ? this.#freeKey() : current;
    return index === undefined || name !== undefined ? this.#freeKey() : current;
  }

  #keyOfId(callId: string | undefined): number | undefined {
    return callId === undefined ? undefined : [...this.#calls].find(([, call]) => call.callId === callId)?.[0];
  }

  #freeKey(): number {
    return Math.max(-1, ...this.#calls.keys()) + 1;
  }
}

/** Whether a named piece without an id of its own is another call: of another tool, or of the same one with other arguments. */
function beginsAnother(known: OpenCall, name: string | undefined, argumentsJson: string): boolean {
  if (name === undefined || known.name === '') return false;
  if (known.name !== name) return true;
  const before = parseJson(known.pieces.join(''));
  const next = parseJson(argumentsJson);
  return before !== undefined && next !== undefined && !sameValue(before, next);
}

/** The arguments, once: pieces may be repeated, or be sent again from the start. */
function argumentsOf(pieces: readonly string[]): string {
  const all = pieces.join('');
  if (all.trim() === '' || parseJson(all) !== undefined) return all;
  const beginnings = pieces.flatMap((piece, at) => (at > 0 && /^\s*\{/.test(piece) ? [at] : [])).slice(-MAX_BEGINNINGS);
  for (const at of beginnings.toReversed()) {
    const again = firstObject(pieces.slice(at).join(''));
    if (again !== undefined) return again;
  }
  return firstObject(all) ?? all;
}

/** The object with which a text begins. */
function firstObject(text: string): string | undefined {
  const start = text.length - text.trimStart().length;
  const end = text[start] === '{' ? endOfJson(text, start) : -1;
  const object = end < 0 ? undefined : text.slice(start, end);
  return object !== undefined && parseJson(object) !== undefined ? object : undefined;
}

function sameJson(one: string, other: string): boolean {
  return one === other || sameValue(parseJson(one), parseJson(other));
}

function sameValue(one: unknown, other: unknown): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
