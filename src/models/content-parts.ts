/** What a reply's content holds, in whichever form. */
export interface ReadContent {
  text: string;
  thought: string;
}

/**
 * Reads a reply's `content`: a text, or a list of parts as some engines write it, thoughts among them
 * (`{type: "thinking", thinking}`, whose value is a text or a list of text parts). Parts of other kinds are passed over.
 */
export function readContent(content: unknown): ReadContent {
  if (typeof content === 'string') return { text: content, thought: '' };
  if (!Array.isArray(content)) return { text: '', thought: '' };
  const parts = content as unknown[];
  return {
    text: parts.map((part) => textOfPart(part, 'text')).join(''),
    thought: parts.map((part) => textOfPart(part, 'thinking')).join(''),
  };
}

function textOfPart(part: unknown, type: 'text' | 'thinking'): string {
  if (typeof part !== 'object' || part === null) return '';
  const fields = part as Readonly<Record<string, unknown>>;
  if (fields['type'] !== type) return '';
  const value = fields[type];
  return typeof value === 'string' || type === 'thinking' ? readContent(value).text : '';
}
