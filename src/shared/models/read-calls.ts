import { endOfJson } from './json-scan.ts';
import { asObject, parseJson, type JsonObject } from '../parse-json.ts';

/** A tool call found in text. */
export interface TextCall {
  name: string;
  argumentsJson: string;
}

/** Namespace of a tag. */
const PREFIX = '(?:｜DSML｜|[a-z]{1,10}:)?';
const NAME = '[\\p{L}_][\\p{L}\\p{N}_.:/-]{0,127}';
/** `<function=NAME>…</function>`, `<invoke name="NAME">…</invoke>` and similar. */
const TAGGED = new RegExp(
  `<${PREFIX}(?:function|invoke|tool|call|tool_call)(?:=|\\(|\\s+name=)["']?(${NAME})["']?\\)?\\s*>([\\s\\S]*?)(?:</${PREFIX}(?:function|invoke|tool|call|tool_call)>|$)`,
  'gu',
);
const PARAMETER = new RegExp(
  `<${PREFIX}(?:parameter|param|arg)(?:=|\\s+name=)["']?(${NAME})["']?[^>]{0,80}>([\\s\\S]*)`,
  'u',
);
const PARAMETER_END = new RegExp(`</${PREFIX}(?:parameter|param|arg)>`);
/** Calls inside the marks for a list of calls. */
const NESTED = /^\s*<tool_call>/;
/** GLM and Hunyuan: a name, then alternating keys and values. */
const KEYED = new RegExp(`^\\s*(${NAME})\\s*(?=<arg_key>|$)`, 'u');
/** Separators between a name and its arguments in dialects that write both without markup. */
const BETWEEN =
  /<｜tool▁sep｜>|\[TOOL_CALLS\]|<\|tool_call_argument_begin\|>|\[ARGS\]|\[CALL_ID\][\w-]{0,64}|<\|channel\|>\w{0,20}|<\|constrain\|>|<\|message\|>|<\|plugin\|>|<｜tool▁call▁begin｜>|<\|tool_call_begin\|>|```\w{0,12}|\bjson\b/g;
/** Gemma: `call:NAME{key:<escape>value<escape>}`. */
const GEMMA_CALL = /^\s*call:/;
const GEMMA_QUOTE = /<escape>|<\|"\|>/;
const GEMMA_KEY = /([{,]\s{0,8})(\w{1,64}):/g;
const PLAIN = new RegExp(`(${NAME})\\s*$`, 'u');
/** Python: `NAME(key="value", other=1)`. */
const PYTHON = new RegExp(`^\\s*(?:\\[\\s*)?(?:print\\()?(${NAME})\\(`, 'u');
const PYTHON_END = /^\s*(?:\]\s*)?(?:;\s*)?$/;
/** The end of a call, in front of another one. */
const PYTHON_NEXT = /\)\s*[,;]\s*(?=[A-Za-z_]\w{0,127}\()/;
const PYTHON_ARGUMENT =
  /(\w{1,64})\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|True|False|None|\[[^[\]]*\])\s*(?:,|$)/g;
const MAX_CALLS = 64;

/**
 * Parses tool calls that a model wrote as text, in any dialect. Linear in the length of the text.
 * @param text the text between the marks, or a text that may consist only of calls
 * @returns an empty list if the text is not a call
 */
export function readCalls(text: string): TextCall[] {
  if (NESTED.test(text)) return text.split('<tool_call>').flatMap(readCalls).slice(0, MAX_CALLS);
  const tagged = [...text.matchAll(TAGGED)].map(([, name = '', body = '']) => callOf(name, argumentsIn(body)));
  if (tagged.length > 0) return tagged.slice(0, MAX_CALLS);
  const keyed = KEYED.exec(text.replace('<tool_sep>', ''));
  if (keyed && text.includes('<arg_key>')) return [callOf(keyed[1] ?? '', argumentsOfPairs(keysAndValues(text)))];
  const plain = readJsonCalls(withQuotes(text).replace(BETWEEN, ' '));
  if (plain.length > 0) return plain;
  const python = pythonCalls(text.replace(BETWEEN, ' '));
  if (python.length > 0) return python;
  return keyed ? [callOf(keyed[1] ?? '', {})] : [];
}

/** Gemma's calls with the quotation marks of JSON. */
function withQuotes(text: string): string {
  if (!GEMMA_CALL.test(text)) return text;
  return text
    .split(GEMMA_QUOTE)
    .map((part, index) => (index % 2 === 1 ? JSON.stringify(part) : part.replace(GEMMA_KEY, '$1"$2":')))
    .join('');
}

/** Objects and lists that contain the tool name, and names that are each followed by an object. */
function readJsonCalls(text: string): TextCall[] {
  const calls: TextCall[] = [];
  let from = 0;
  while (calls.length < MAX_CALLS) {
    const start = text.slice(from).search(/[{[]/);
    if (start < 0) break;
    const end = endOfJson(text, from + start);
    const json = end < 0 ? undefined : parseJson(text.slice(from + start, end));
    if (json === undefined) {
      // A truncated call, or a call whose arguments are not JSON. The model is told about the error.
      const name = /["']name["']\s*:\s*["']([^"']{1,128})["']/.exec(text.slice(from))?.[1];
      if (name !== undefined) calls.push({ name: ownName(name), argumentsJson: text.slice(from + start) });
      break;
    }
    const before = PLAIN.exec(text.slice(Math.max(from, from + start - 160), from + start))?.[1];
    const object = asObject(json);
    if (before !== undefined && object) calls.push(callOf(before, object));
    else calls.push(...[object?.['tool_calls'] ?? json].flat().flatMap((one) => callIn(asObject(one)) ?? []));
    from = end;
  }
  return calls;
}

/** Parses a call from an object, by its field names. */
function callIn(object: JsonObject | undefined): TextCall | undefined {
  const inner = asObject(object?.['function']) ?? object;
  const [only, ...others] = Object.entries(inner ?? {});
  // Apertus: the tool's name is the key.
  if (only && others.length === 0 && asObject(only[1])) return callOf(only[0], only[1] as object);
  const name = [inner?.['name'], object?.['function'], inner?.['tool_name'], inner?.['tool'], inner?.['action']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  if (!inner || typeof name !== 'string') return undefined;
  const given = ARGUMENTS.map((field) => inner[field]).find((value) => value !== undefined && value !== null);
  if (typeof given === 'string') return { name: ownName(name), argumentsJson: given };
  return given === undefined && Object.keys(inner).length > 2 ? undefined : callOf(name, asObject(given) ?? {});
}

const ARGUMENTS = ['arguments', 'parameters', 'args', 'input', 'action_input', 'tool_input', 'kwargs'];

function callOf(name: string, given: object): TextCall {
  return { name: ownName(name), argumentsJson: JSON.stringify(given) };
}

/** Some dialects write `functions.NAME:0`. */
function ownName(name: string): string {
  return name
    .replace(/^functions?[.:]/, '')
    .replace(/:\d+$/, '')
    .replace(/^call:/, '');
}

function argumentsIn(body: string): object {
  const whole = asObject(parseJson(body));
  return whole ?? argumentsOfPairs(parameters(body));
}

/*
 * Texts are split at the closing marks before a piece is searched: a regular expression that searches for the end from each
 * opening is quadratic for a text that consists only of openings.
 */
function parameters(body: string): string[][] {
  return body
    .split(PARAMETER_END)
    .slice(0, -1)
    .flatMap((piece) => {
      const [, key, value] = PARAMETER.exec(piece) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value]];
    });
}

function keysAndValues(text: string): string[][] {
  return text
    .split('</arg_value>')
    .slice(0, -1)
    .flatMap((piece) => {
      const [head = '', ...value] = piece.split('<arg_value>');
      const [, key] = head.split('<arg_key>', 2);
      return key?.trimEnd().endsWith(KEY_END)
        ? [[key.trimEnd().slice(0, -KEY_END.length), value.join('<arg_value>')]]
        : [];
    });
}

const KEY_END = '</arg_key>';

/** Python calls that span the whole text. */
function pythonCalls(text: string): TextCall[] {
  const pieces = text.split(PYTHON_NEXT);
  const calls = pieces.flatMap((piece, at) => pythonCall(at < pieces.length - 1 ? `${piece})` : piece) ?? []);
  return calls.length === pieces.length ? calls.slice(0, MAX_CALLS) : [];
}

/** A Python call that spans the whole text: the name, and the text within the parentheses. */
function pythonCall(text: string): TextCall | undefined {
  const opening = PYTHON.exec(text);
  const end = text.lastIndexOf(')');
  if (!opening || end < opening[0].length || !PYTHON_END.test(text.slice(end + 1))) return undefined;
  // The last parenthesis may be that of `print`.
  const last = opening[0].includes('print(') ? text.lastIndexOf(')', end - 1) : end;
  const given = text.slice(opening[0].length, last).matchAll(PYTHON_ARGUMENT);
  return callOf(opening[1] ?? '', argumentsOfPairs(Array.from(given, ([, key = '', value = '']) => [key, value])));
}

/** Values that parse as JSON are JSON; all others are strings. */
function argumentsOfPairs(pairs: readonly string[][]): object {
  const read = (value: string): unknown => {
    const text = value.trim();
    const python = { True: true, False: false, None: null }[text];
    if (python !== undefined) return python;
    const isQuoted = text.startsWith("'") && text.endsWith("'") && text.length > 1;
    return parseJson(isQuoted ? `"${text.slice(1, -1).replaceAll('"', '\\"')}"` : text) ?? text;
  };
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key.trim(), read(value)]));
}
