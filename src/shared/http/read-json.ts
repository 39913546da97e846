/** Where JSON text breaks off being JSON, and how. */
export interface JsonFault {
  /** Counted from 1, as editors do. */
  line: number;
  column: number;
  /** What is wrong there, and what to do; it never shows the text's own words, which may be secret. */
  what: string;
}

export type JsonRead = { ok: true; value: unknown } | { ok: false; fault: JsonFault };

/** Reads the text of a JSON file that people write. A mark at its beginning, as some editors leave one, does not count. */
export function readJson(text: string): JsonRead {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return { ok: true, value: JSON.parse(json) };
  } catch {
    return { ok: false, fault: faultIn(json) };
  }
}

/** In one sentence, for who mends the file. */
export function jsonFaultInWords({ line, column, what }: JsonFault): string {
  return `Line ${line}, column ${column}: ${what}`;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;

/** What may come next within what is open. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/** Walks through text that is not JSON up to the first place that no JSON could go on from. */
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
    if (expected !== 'nothing') return 'this text has no closing " on its line, or a \\ that means nothing';
  }
  if ("“”„‘’'".includes(sign)) return 'texts stand between straight double quotation marks: "…"';
  if ('，：；｛｝［］'.includes(sign)) return `${sign} is a full-width sign: JSON has the plain one`;
  if (/^(?:\/\/|\/\*|#)/.test(text.slice(at, at + 2))) return 'JSON has no comments: remove this';
  if (expected === 'nothing') return 'the file should end here: what follows belongs to nothing';
  const afterComma = expected === 'name' || (expected === 'value' && inside === '[');
  if (afterComma && sign === end) return `a comma stands before this ${end}: remove it`;
  if (expected.startsWith('name')) return 'a name in double quotation marks is missing here';
  if (expected === 'colon') return 'a colon is missing here';
  if (expected === 'comma or end') return `a comma or ${end} is missing here`;
  return 'a value is missing here: a text in double quotation marks, a number, true, false, null, a list or an object';
}
