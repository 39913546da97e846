/** Text and reasoning of a response's content, in any format. */
export interface ReadContent {
  text: string;
  thought: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Part types, with the fields that may contain the text. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set([undefined, 'text', 'output_text', 'refusal']);
const THOUGHT_TYPES: ReadonlySet<unknown> = new Set([
  'thinking',
  'reasoning',
  'reasoning_text',
  'thought',
  'summary_text',
]);
const TEXT_FIELDS = ['text', 'refusal'];
const THOUGHT_FIELDS = ['thinking', 'reasoning', 'reasoning_text', 'text', 'content', 'summary', 'thought'];
/**
 * Fields beside `content` in which engines send reasoning, the most common first. Some engines send the same text in
 * several.
 */
const REPLY_THOUGHTS = ['reasoning_content', 'reasoning', 'thinking', 'thought', 'reasoning_text', 'thinking_blocks'];
const MAX_DEPTH = 4;

/** A part that consists only of its text. */
interface Part {
  type?: unknown;
}

/**
 * Reads a response's `content`: a string, or a list of parts. Parts may contain reasoning (`{type: "thinking", thinking}`,
 * whose value is a string or a list of text parts). Other kinds of parts, such as images, are ignored.
 */
export function readContent(content: unknown): ReadContent {
  if (typeof content === 'string') return { text: content, thought: '' };
  if (typeof content !== 'object' || content === null) return { text: '', thought: '' };
  const parts = [content].flat() as unknown[];
  return {
    text: parts.map((part) => (typeof part === 'string' ? part : textOfPart(part, TEXT_TYPES, TEXT_FIELDS))).join(''),
    thought: parts.map((part) => textOfPart(part, THOUGHT_TYPES, THOUGHT_FIELDS)).join(''),
  };
}

/** Reasoning from the other fields of a response. */
export function readThought(reply: Fields | undefined): string {
  if (!reply) return '';
  for (const field of REPLY_THOUGHTS) {
    const value = reply[field];
    const thought = value === undefined || value === null ? '' : textIn(value, THOUGHT_FIELDS, 0);
    if (thought !== '') return thought;
  }
  const details = reply['reasoning_details'];
  return Array.isArray(details)
    ? details.map((detail) => textIn(detail, ['text', 'summary', 'content'], 0)).join('')
    : '';
}

/** All fields beside `content` in which a response may contain reasoning. */
export const THOUGHT_FIELDS_OF_REPLY: readonly string[] = [...REPLY_THOUGHTS, 'reasoning_details'];

function textOfPart(part: unknown, types: ReadonlySet<unknown>, fields: readonly string[]): string {
  if (typeof part !== 'object' || part === null || !types.has((part as Part).type)) return '';
  return textIn(part, fields, 0);
}

/** A string, the string of the first of these fields that has one, or the strings of a list. */
function textIn(value: unknown, fields: readonly string[], depth: number): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) return value.map((one) => textIn(one, fields, depth + 1)).join('');
  for (const field of fields) {
    const text = textIn((value as Fields)[field], fields, depth + 1);
    if (text !== '') return text;
  }
  return '';
}
