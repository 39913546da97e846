import { endOfJson } from './json-scan.ts';
import { asObject, parseJson, type JsonObject } from '../parse-json.ts';

/**
 * A fragment of a tool call. The first fragment names the tool; later ones append to its arguments, which for a tool of the
 * type `custom` are free text.
 */
export interface ToolCallDelta {
  index: number | undefined;
  callId: string | undefined;
  name: string | undefined;
  argumentsJson: string;
}

/** An assembled tool call. The id is empty if the engine sent none. */
export interface AssembledCall {
  callId: string;
  name: string;
  argumentsJson: string;
}

/**
 * Reads the tool calls of a response: the fragments of a stream chunk, or the complete calls of a message, each of which is
 * a separate call.
 */
export function readToolCallDeltas(reply: JsonObject | undefined, isWhole: boolean): readonly ToolCallDelta[] {
  const { tool_calls: calls, function_call: call } = reply ?? {};
  const given = Array.isArray(calls) && calls.length === 0 ? call : (calls ?? call);
  if (typeof given !== 'object' || given === null) return NO_PIECES;
  return [given].flat().map((call: unknown, position) => {
    const piece = asObject(call);
    const declared = asObject(piece?.['function']) ?? asObject(piece?.['custom']) ?? piece;
    const index = Number(piece?.['index'] ?? Number.NaN);
    return {
      index: isWhole ? position : Number.isInteger(index) ? index : undefined,
      callId: asText(piece?.['id']) || undefined,
      name: asText(declared?.['name']) || undefined,
      argumentsJson: asArguments(declared?.['arguments'] ?? declared?.['parameters'] ?? declared?.['input']),
    };
  });
}

/** JSON text, as the API specifies. Some engines send a complete object instead. */
function asArguments(given: unknown): string {
  return asObject(given) ? JSON.stringify(given) : asText(given);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const NO_PIECES: readonly ToolCallDelta[] = [];

interface OpenCall {
  callId: string;
  name: string;
  pieces: string[];
}

/** Maximum tool calls in one answer. More indicate a runaway model and are ignored. */
const MAX_CALLS = 64;
/** Arguments that were sent again from the start begin in one of the last fragments. */
const MAX_BEGINNINGS = 8;

/** Assembles the tool calls of one answer from fragments, whatever an engine omits or repeats. */
export class ToolCallAssembler {
  readonly #calls = new Map<number, OpenCall>();
  /** Key of the newest call for each index that the engine used. */
  readonly #keysByIndex = new Map<number, number>();
  #lastKey: number | undefined;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(piece: ToolCallDelta): void {
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

  /** Adds the calls of a summary message that are not known yet. */
  addSummary(pieces: readonly ToolCallDelta[]): void {
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

  /** The named calls in order, without duplicates. */
  list(): AssembledCall[] {
    const calls: AssembledCall[] = [];
    for (const { callId, name, pieces } of this.#calls.values()) {
      // A call without a name cannot be executed.
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
   * Key of the call that a fragment belongs to. Engines that omit the index begin each call with its id, or only with its
   * name. Some give every call the same index and distinguish calls only by id or name.
   */
  #keyOf({ index, callId, name, argumentsJson }: ToolCallDelta): number {
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

/** Whether a named fragment without an id begins another call: to another tool, or to the same tool with other arguments. */
function beginsAnother(known: OpenCall, name: string | undefined, argumentsJson: string): boolean {
  if (name === undefined || known.name === '') return false;
  if (known.name !== name) return true;
  const before = parseJson(known.pieces.join(''));
  const next = parseJson(argumentsJson);
  return before !== undefined && next !== undefined && !sameValue(before, next);
}

/** The arguments without repetition: fragments may be repeated, or sent again from the start. */
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

/** The JSON object at the beginning of a text. */
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
