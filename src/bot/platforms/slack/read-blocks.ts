import { fieldsOf, type JsonObject } from '../../../shared/parse-json.ts';
import { plainText } from './plain-text.ts';

/** Maximum depth and number of the parts of a message's blocks that are read. */
const MAX_DEPTH = 10;
const MAX_PARTS = 2_000;
const MAX_TEXT_CHARS = 20_000;
const MAX_TABLES = 5;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const ENDS_LINE = /^rich_text_(?:section|quote|preformatted)$/;
/** Types of block texts that already use Slack's markup. */
const IS_MARKUP = new Set(['mrkdwn']);

/** Slack markup of rich text elements, by type. */
const REFERENCES: Readonly<Record<string, (part: JsonObject) => string>> = {
  user: ({ user_id: id }) => `<@${idOf(id)}>`,
  channel: ({ channel_id: id }) => `<#${idOf(id)}>`,
  usergroup: ({ usergroup_id: id }) => `<!subteam^${idOf(id)}>`,
  broadcast: ({ range }) => `<!${idOf(range)}>`,
  emoji: ({ name }) => (typeof name === 'string' ? `:${escaped(name)}:` : ''),
  date: ({ timestamp, fallback }) =>
    typeof fallback === 'string' ? escaped(fallback) : `<!date^${String(timestamp)}^>`,
};

/** The text of a message's blocks in Slack's markup, section by section, without tables. Malformed parts are omitted. */
export function textOfBlocks(blocks: unknown): string {
  return wordsOf(blocks, { left: MAX_PARTS }).trim().slice(0, MAX_TEXT_CHARS);
}

/**
 * The tables of a message's blocks and of its attachments' blocks, as markdown without Slack's markup
 * (PLATFORM_FACTS.md slack-messages).
 */
export function tablesIn(blocks: unknown, attachments: unknown): string[] {
  const budget = { left: MAX_PARTS };
  const attached = listOf(attachments).flatMap((one) => listOf(fieldsOf(one)['blocks']));
  return [...listOf(blocks), ...attached]
    .filter((block) => fieldsOf(block)['type'] === 'table')
    .slice(0, MAX_TABLES)
    .map((block) => tableOf(fieldsOf(block), budget))
    .filter((table) => table !== '');
}

function tableOf({ rows }: JsonObject, budget: { left: number }): string {
  const cells = listOf(rows).map((row) =>
    listOf(row).map((cell) => plainText(wordsOf(cell, budget)).trim().replace(/\s+/g, ' ').replaceAll('|', '\\|')),
  );
  const columns = Math.max(0, ...cells.map((row) => row.length));
  if (columns === 0 || cells.every((row) => row.every((cell) => cell === ''))) return '';
  const [head = [], ...body] = cells.map(
    (row) => `| ${[...row, ...Array<string>(columns - row.length).fill('')].join(' | ')} |`,
  );
  return [head, `|${' --- |'.repeat(columns)}`, ...body].join('\n').slice(0, MAX_TEXT_CHARS);
}

function wordsOf(blocks: unknown, budget: { left: number }): string {
  const words: string[] = [];
  const walk = (part: unknown, depth: number): void => {
    budget.left -= 1;
    if (budget.left < 0 || depth > MAX_DEPTH || typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      for (const one of part.slice(0, MAX_PARTS) as unknown[]) walk(one, depth + 1);
      return;
    }
    const { type, text, url, message, blocks: inner, elements } = part as JsonObject;
    if (type === 'table') return;
    const reference = typeof type === 'string' && Object.hasOwn(REFERENCES, type) ? REFERENCES[type] : undefined;
    if (reference) words.push(reference(part as JsonObject));
    else if (type === 'link' && typeof url === 'string')
      words.push(typeof text === 'string' ? `<${escaped(url)}|${escaped(text)}>` : escaped(url));
    else if (typeof text === 'string')
      words.push(IS_MARKUP.has(String(type)) ? text.slice(0, MAX_TEXT_CHARS) : escaped(text));
    else walk(text, depth + 1);
    for (const one of [message, inner, elements]) walk(one, depth + 1);
    if (typeof type === 'string' && ENDS_LINE.test(type)) words.push('\n');
  };
  walk(blocks, 0);
  return words.join('');
}

function escaped(text: string): string {
  return text.slice(0, MAX_TEXT_CHARS).replace(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign);
}

function idOf(id: unknown): string {
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : '';
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]).slice(0, MAX_PARTS) : [];
}
