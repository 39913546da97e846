import { StringStream, type StreamParser } from '@codemirror/streamparser';
import { escapeHtml } from './code-block.ts';
import { languageNamed } from './code-languages.ts';

/** The parsers' style names, each with its CSS class. */
const CLASSES = new Map([
  ...named('comment', 'comment lineComment blockComment docComment quote'),
  ...named('string', 'string character attributeValue regexp quasi url'),
  ...named('keyword', 'keyword modifier controlKeyword definitionKeyword operatorKeyword moduleKeyword important'),
  ...named('number', 'number atom bool null literal unit color integer float escape self'),
  ...named('name', 'def function macroName tag tagName variable-2 heading header'),
  ...named('type', 'type typeName className builtin namespace labelName qualifier'),
  ...named('meta', 'meta processingInstruction documentMeta attributeName attribute annotation propertyName property'),
  ...named('added', 'inserted'),
  ...named('removed', 'deleted'),
]);
/**
 * Maximum characters of a highlighted line. People do not write longer lines, and some parsers scan to the end of the line
 * from many positions.
 */
const MAX_LINE_CHARS = 1_000;
/** Maximum attempts after which a parser that has not advanced is given up. */
const MAX_TRIES = 10;
const TAB_CHARS = 4;
/** Maximum blocks whose beginning is cached; a cache miss only costs time. */
const MAX_BLOCKS = 256;
const KEY_CHARS = 64;

/** The completed lines of one block, and their HTML. */
interface Painted {
  source: string;
  html: string;
  /** Parser state after these lines; mutable. */
  state: unknown;
}

const blocks = new Map<string, Painted>();

/**
 * Highlights code as HTML with CSS classes. Continues where the last call ended, so that a growing block costs no more in
 * total than its final length.
 * @returns undefined for an unknown language
 */
export function paintCode(code: string, language: string): string | undefined {
  const parser = languageNamed(language);
  if (parser === undefined) return undefined;
  const key = `${language}\n${code.slice(0, KEY_CHARS)}`;
  const known = blocks.get(key);
  // A single string comparison is many times faster than comparing character by character.
  const beginning = code.slice(0, known?.source.length);
  const painted = known?.source === beginning ? known : { source: '', html: '', state: startOf(parser) };
  // The last line may still grow, even if it ended with a line break this time.
  const settled = code.lastIndexOf('\n', code.length - 2) + 1;
  let at = painted.source.length;
  while (at < settled) {
    const end = code.indexOf('\n', at);
    painted.html += `${paintLine(code.slice(at, end), parser, painted.state)}\n`;
    at = end + 1;
  }
  painted.source = code.slice(0, settled);
  remember(key, painted);
  const last = code.slice(settled);
  const lineEnd = last.endsWith('\n') ? '\n' : '';
  return (
    painted.html +
    paintLine(last.slice(0, last.length - lineEnd.length), parser, copyOf(parser, painted.state)) +
    lineEnd
  );
}

function remember(key: string, painted: Painted): void {
  blocks.delete(key);
  blocks.set(key, painted);
  const oldest = blocks.size > MAX_BLOCKS ? blocks.keys().next().value : undefined;
  if (oldest !== undefined) blocks.delete(oldest);
}

function paintLine(line: string, parser: StreamParser<unknown>, state: unknown): string {
  if (line === '') parser.blankLine?.(state, TAB_CHARS);
  if (line === '' || line.length > MAX_LINE_CHARS) return escapeHtml(line);
  const stream = new StringStream(line, TAB_CHARS, TAB_CHARS);
  let html = '';
  while (!stream.eol()) {
    stream.start = stream.pos;
    const name = classOf(nextStyle(parser, stream, state));
    const words = escapeHtml(line.slice(stream.start, stream.pos));
    html += name === undefined ? words : `<span class="code-${name}">${words}</span>`;
  }
  return html;
}

/** Advances the stream past the next token. */
function nextStyle(parser: StreamParser<unknown>, stream: StringStream, state: unknown): string | null {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const style = parser.token(stream, state);
    if (stream.pos > stream.start) return style;
  }
  stream.next();
  return null;
}

/** Styles are words, possibly with modifiers after a dot; the first one with a class is used. */
function classOf(style: string | null): string | undefined {
  for (const word of style?.split(' ') ?? []) {
    const name = CLASSES.get(word.split('.')[0] ?? '');
    if (name !== undefined) return name;
  }
  return undefined;
}

function startOf(parser: StreamParser<unknown>): unknown {
  return parser.startState?.(TAB_CHARS) ?? true;
}

function copyOf(parser: StreamParser<unknown>, state: unknown): unknown {
  if (parser.copyState) return parser.copyState(state);
  if (typeof state !== 'object' || state === null) return state;
  const copy = Object.entries(state).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? [...(value as unknown[])] : value,
  ]);
  return Object.fromEntries(copy) as unknown;
}

function named(name: string, styles: string): [style: string, name: string][] {
  return styles.split(' ').map((style) => [style, name]);
}
