/** Argument types that can be sent to Redis. `true` and `false` become `'1'` and `'0'`. */
export type LuaArgument = string | number | boolean | Buffer;

/**
 * Type of one value of a reply. Lua numbers, `true` and Redis strings are all converted to this type. A missing value
 * becomes 0, `''`, `false` or an empty list, or undefined if the type ends with `?`. A list of words means one of these
 * words.
 */
export type AnswerKind = keyof AnswerValues | readonly string[];

interface AnswerValues {
  number: number;
  text: string;
  'text?': string | undefined;
  flag: boolean;
  numbers: number[];
  texts: string[];
  /** All remaining values of the reply; only for the last field. */
  '...texts': string[];
}

type AnswerFields = Readonly<Record<string, AnswerKind>>;

/** Lua functions for scripts that name it in their shape, without access to keys and arguments of the script. */
export interface ScriptLibrary {
  readonly source: string;
  /** Constants that the functions use by name. */
  readonly constants?: Readonly<Record<string, number | string>>;
}

/**
 * Contract between a script and its caller, and the only place that defines an order: both sides use names. The order may
 * change between versions, because each version sends its own scripts.
 *
 * A name that ends with `?` is optional: optional keys must come last, and a missing argument is sent as `''`. A name that
 * begins with `...` is a list of any length and must be the last.
 */
export interface ScriptShape {
  /** Functions that several scripts use. */
  readonly libraries?: readonly ScriptLibrary[];
  /** Constants that the script uses by name, so that they are not sent with every call. */
  readonly constants?: Readonly<Record<string, number | string>>;
  /** `keys.NAME` in the script. */
  readonly keys: readonly string[];
  /** `args.NAME` in the script. */
  readonly args?: readonly string[];
  /** The single value that the script returns; or, by name, the values that it passes to `answer { NAME = value, … }`. */
  readonly answer?: AnswerKind | AnswerFields;
  /** Alternative to `answer`: the fields of each row of a list, where each row is made by `answer { … }`. */
  readonly rows?: AnswerFields;
}

type Required<Name extends string> = Name extends `...${string}` | `${string}?` ? never : Name;
type Optional<Name extends string> = Name extends `${infer Bare}?` ? Bare : never;
type Rest<Name extends string> = Name extends `...${infer Bare}` ? Bare : never;

type Named<Names extends readonly string[], Value> = NamedOnes<Names, Value> & NamedRest<Names, Value>;
type NamedOnes<Names extends readonly string[], Value> = {
  readonly [Name in Names[number] as Required<Name>]: Value;
};
type NamedRest<Names extends readonly string[], Value> = {
  readonly [Name in Names[number] as Optional<Name>]?: Value | undefined;
} & { readonly [Name in Names[number] as Rest<Name>]: readonly Value[] };

type ValueOf<Kind> = Kind extends keyof AnswerValues
  ? AnswerValues[Kind]
  : Kind extends readonly (infer Word)[]
    ? Word
    : never;

type FieldsOf<Fields> = { -readonly [Name in keyof Fields]: ValueOf<Fields[Name]> };

/** The keys of a script of this shape, by name. */
export type KeysOf<Shape extends ScriptShape> = Named<Shape['keys'], string>;

/** The arguments of a script of this shape, by name. */
export type ArgsOf<Shape extends ScriptShape> = Shape extends { readonly args: infer Names extends readonly string[] }
  ? Named<Names, LuaArgument>
  : Readonly<Record<string, never>>;

/** Reply of a script of this shape. */
export type AnswerOf<Shape extends ScriptShape> = Shape extends { readonly rows: infer Fields }
  ? FieldsOf<Fields>[]
  : Shape extends { readonly answer: infer Answer }
    ? Answer extends AnswerKind
      ? ValueOf<Answer>
      : FieldsOf<Answer>
    : undefined;

/** A name without `?` and `...`. */
export function bareName(name: string): string {
  return name.replace(/^\.\.\.|\?$/g, '');
}

/** Name of the trailing `...` list among these names; undefined if there is none. */
export function restName(names: readonly string[]): string | undefined {
  return names.at(-1)?.startsWith('...') === true ? bareName(names.at(-1) ?? '') : undefined;
}

/** Fields of a reply; undefined for a script that returns one value or none. */
export function answerFields({ answer, rows }: ScriptShape): AnswerFields | undefined {
  if (rows) return rows;
  return answer === undefined || isKind(answer) ? undefined : answer;
}

function isKind(answer: AnswerKind | AnswerFields): answer is AnswerKind {
  return typeof answer === 'string' || Array.isArray(answer);
}
