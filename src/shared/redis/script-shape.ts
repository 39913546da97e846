/** What Redis is sent as an argument. `true` and `false` become `'1'` and `'0'`. */
export type LuaArgument = string | number | boolean | Buffer;

/**
 * How one value of an answer is read. Lua's numbers, `true` and texts of Redis all come as what their kind says; what is
 * missing there comes as 0, `''`, `false` or an empty list, and as undefined where the kind ends with `?`. A list of words is
 * one of them.
 */
export type AnswerKind = keyof AnswerValues | readonly string[];

interface AnswerValues {
  number: number;
  text: string;
  'text?': string | undefined;
  flag: boolean;
  numbers: number[];
  texts: string[];
  /** All that follows in the answer; of a last value only. */
  '...texts': string[];
}

type AnswerFields = Readonly<Record<string, AnswerKind>>;

/**
 * What a script and its caller agree upon. This is the only place that states an order; both sides name what they mean, and the
 * order may change from one version of the program to the next, since each sends its own scripts.
 *
 * A name that ends with `?` may be left out: a key only behind all others, an argument then comes as `''`. A name that begins with
 * `...` is a list of any length, and the last.
 */
export interface ScriptShape {
  /** What the script knows by these names, so that it need not be sent with every call. */
  readonly constants?: Readonly<Record<string, number | string>>;
  /** The script says `keys.NAME`. */
  readonly keys: readonly string[];
  /** The script says `args.NAME`. */
  readonly args?: readonly string[];
  /** The one value that the script returns; or, by their names, the values that it gives to `answer { NAME = value, … }`. */
  readonly answer?: AnswerKind | AnswerFields;
  /** Instead: what each of a list of answers holds, each made by `answer { … }`. */
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

/** What a script of this shape answers. */
export type AnswerOf<Shape extends ScriptShape> = Shape extends { readonly rows: infer Fields }
  ? FieldsOf<Fields>[]
  : Shape extends { readonly answer: infer Answer }
    ? Answer extends AnswerKind
      ? ValueOf<Answer>
      : FieldsOf<Answer>
    : undefined;

/** The bare names of a list of names, without `?` and `...`. */
export function bareName(name: string): string {
  return name.replace(/^\.\.\.|\?$/g, '');
}

/** The name of the list of any length with which these names end; undefined without one. */
export function restName(names: readonly string[]): string | undefined {
  return names.at(-1)?.startsWith('...') === true ? bareName(names.at(-1) ?? '') : undefined;
}

/** The names of an answer's values; undefined of a script that answers with one value or none. */
export function answerFields({ answer, rows }: ScriptShape): AnswerFields | undefined {
  if (rows) return rows;
  return answer === undefined || isKind(answer) ? undefined : answer;
}

function isKind(answer: AnswerKind | AnswerFields): answer is AnswerKind {
  return typeof answer === 'string' || Array.isArray(answer);
}
