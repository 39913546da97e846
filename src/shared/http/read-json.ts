/** Position and reason of the first JSON syntax error. */
export interface JsonFault {
  /** Counted from 1, as in editors. */
  line: number;
  column: number;
  /** What is wrong and how to fix it. Never quotes the text, which may be secret. */
  what: string;
}

export type JsonRead = { ok: true; value: unknown } | { ok: false; fault: JsonFault };

/** Parses hand-written JSON. Ignores a byte order mark. */
export function readJson(text: string): JsonRead {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return { ok: true, value: JSON.parse(json) };
  } catch {
    return { ok: false, fault: faultIn(json) };
  }
}

/** One sentence for the person who edits the file. */
export function formatJsonFault({ line, column, what }: JsonFault): string {
  return `Line ${line}, column ${column}: ${what}`;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

/** What may follow inside the open container. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/** Scans invalid JSON up to the first character that cannot continue valid JSON. */
function faultIn(text: string): JsonFault {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let expected: Expected = 'value';
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    at += found?.length ?? 0;
    return found !== undefined;
  };
  const close = () => {
    open.pop();
    at += 1;
    expected = open.length === 0 ? 'nothing' : 'comma or end';
  };
  for (;;) {
    take(SPACE);
    const sign = text[at];
    const inside = open.at(-1);
    const end = inside === '{' ? '}' : ']';
    if (sign === undefined || expected === 'nothing') break;
    if (expected === 'colon' && sign === ':') {
      at += 1;
      expected = 'value';
    } else if (expected === 'comma or end' && sign === ',') {
      at += 1;
      expected = inside === '{' ? 'name' : 'value';
    } else if (expected.endsWith('or end') && sign === end && inside !== undefined) {
      close();
    } else if (expected.startsWith('name')) {
      if (!take(STRING)) break;
      expected = 'colon';
    } else if (expected.startsWith('value') && (sign === '{' || sign === '[')) {
      open.push(sign);
      at += 1;
      expected = sign === '{' ? 'name or end' : 'value or end';
    } else if (expected.startsWith('value') && (take(STRING) || take(SCALAR))) {
      expected = inside === undefined ? 'nothing' : 'comma or end';
    } else break;
  }
  return { ...placeOf(text, at), what: wordsFor(text, at, { expected, inside: open.at(-1) }) };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

function wordsFor(
  text: string,
  at: number,
  { expected, inside }: { expected: Expected; inside: '{' | '[' | undefined },
): string {
  const sign = text[at];
  const end = inside === '{' ? '}' : ']';
  if (sign === undefined)
    return inside === undefined ? 'the file is empty' : `the file ends here, and ${end} is missing`;
  if (sign === '"') {
    if (expected === 'comma or end') return 'a comma is missing before this';
    if (expected === 'colon') return 'a colon is missing before this';
    if (expected !== 'nothing') return 'this string has no closing " on its line, or an invalid \\';
  }
  if ("“”„‘’'".includes(sign)) return 'put strings in straight double quotation marks: "…"';
  if ('，：；｛｝［］'.includes(sign)) return `${sign} is a full-width character: use the ASCII character`;
  if (/^(?:\/\/|\/\*|#)/.test(text.slice(at, at + 2))) return 'JSON has no comments: remove this';
  if (expected === 'nothing') return 'the file should end here: remove what follows';
  const afterComma = expected === 'name' || (expected === 'value' && inside === '[');
  if (afterComma && sign === end) return `there is a comma before this ${end}: remove it`;
  if (expected.startsWith('name')) return 'a name in double quotation marks is missing here';
  if (expected === 'colon') return 'a colon is missing here';
  if (expected === 'comma or end') return `a comma or ${end} is missing here`;
  return 'a value is missing here: a string in double quotation marks, a number, true, false, null, a list or an object';
}
