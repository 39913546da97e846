import { compileFunction } from 'node:vm';
import {
  answerFields,
  bareName,
  restName,
  type AnswerKind,
  type LuaArgument,
  type ScriptShape,
} from './script-shape.ts';

/** Arguments of a command: the number of keys, the keys, the arguments. */
export type ScriptCall = [keyCount: number, ...keysAndArgs: Exclude<LuaArgument, boolean>[]];

type NamedValues = Readonly<Record<string, LuaArgument | readonly LuaArgument[] | undefined>>;

/** Returns a function that puts named keys and arguments in the order of a shape. Names are parsed once, not per call. */
export function callOrder({ keys, args = [] }: ScriptShape): (keys: NamedValues, args: NamedValues) => ScriptCall {
  const [keyNames, argNames] = [plainNames(keys), plainNames(args)];
  const [restOfKeys, restOfArgs] = [restName(keys), restName(args)];
  return (givenKeys, givenArgs) => {
    const call: ScriptCall = [0];
    for (const name of keyNames) {
      const key = givenKeys[name];
      if (key !== undefined) call.push(plain(key));
    }
    if (restOfKeys !== undefined) pushAll(call, givenKeys[restOfKeys]);
    call[0] = call.length - 1;
    for (const name of argNames) call.push(plain(givenArgs[name] ?? ''));
    if (restOfArgs !== undefined) pushAll(call, givenArgs[restOfArgs]);
    return call;
  };
}

function plainNames(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('...')).map(bareName);
}

function pushAll(call: ScriptCall, values: NamedValues[string]): void {
  for (const value of values as readonly LuaArgument[]) call.push(plain(value));
}

function plain(value: LuaArgument | readonly LuaArgument[]): Exclude<LuaArgument, boolean> {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return value as Exclude<LuaArgument, boolean>;
}

/** Returns a function that parses the reply of a script of this shape. The shape is parsed once, not per call. */
export function answerReader(shape: ScriptShape): (reply: unknown) => unknown {
  const { answer, rows } = shape;
  const fields = answerFields(shape);
  if (fields === undefined) return answer === undefined ? () => undefined : readerOf(answer as AnswerKind);
  const readOne = fieldsReader(fields);
  return rows ? (reply) => (reply as unknown[][]).map(readOne) : (reply) => readOne(reply as unknown[]);
}

/**
 * Compiles a function that reads all fields into one object literal. V8 turns an object of many fields that are set by name
 * one after the other into a hash table, which makes every later use of a claim slow.
 */
function fieldsReader(fields: Readonly<Record<string, AnswerKind>>): (values: readonly unknown[]) => unknown {
  const entries = Object.entries(fields);
  const read = entries.map(([, kind]) => readerOf(kind));
  const literal = entries.map(
    ([name, kind], at) =>
      `${JSON.stringify(name)}: read[${at}](values${kind === '...texts' ? `.slice(${at})` : `[${at}]`})`,
  );
  const make = compileFunction(`return (values) => ({ ${literal.join(', ')} });`, ['read']) as (
    readers: typeof read,
  ) => (values: readonly unknown[]) => unknown;
  return make(read);
}

/** `undefined` if a reply is shorter than its shape, `null` for false in Lua. */
function readerOf(kind: AnswerKind): (value: unknown) => unknown {
  if (typeof kind !== 'string') return (value) => value;
  return READERS[kind];
}

const READERS: Readonly<Record<Extract<AnswerKind, string>, (value: unknown) => unknown>> = {
  number: (value) => Number(value ?? 0),
  // A number where Lua had one, for example in values parsed from JSON.
  text: (value) => (typeof value === 'string' || typeof value === 'number' ? String(value) : ''),
  'text?': (value) => value ?? undefined,
  flag: (value) => value === 1 || value === '1',
  numbers: (value) => value ?? [],
  texts: (value) => value ?? [],
  '...texts': (value) => value,
};
