import { asObject, type CallArguments, type SlackBlock } from './call-arguments.ts';
import { judgeButtons } from './read-buttons.ts';
import { SlackFault } from './slack-fault.ts';
import { markdownOfMrkdwn } from './written-text.ts';

/** Content of blocks: the text of a message, and its small print. Both may be empty. */
export interface BlockContent {
  markdown: string;
  note: string;
  /** The blocks themselves; absent if the message keeps its existing ones. */
  blocks?: readonly SlackBlock[];
}

/** Maximum characters of `markdown_text`, and of all markdown blocks of a message (PLATFORM_FACTS.md slack-web-api). */
export const MAX_MARKDOWN_CHARS = 12_000;
/** Slack's other limits: blocks of a message, characters of one text, and elements. */
const MAX_BLOCKS = 50;
const MAX_TEXT_CHARS = 3_000;
const MAX_ELEMENTS = 10;
/** Maximum characters of block and element ids. */
const MAX_ID_CHARS = 255;

/**
 * Parses the blocks of a call; undefined if it has none.
 * @throws SlackFault `invalid_blocks`, `msg_blocks_too_long`
 */
export function readBlocks({ blocks }: CallArguments): BlockContent | undefined {
  if (blocks === undefined) return undefined;
  if (!Array.isArray(blocks) || blocks.length > MAX_BLOCKS) throw new SlackFault('invalid_blocks');
  const words: string[] = [];
  const notes: string[] = [];
  const read = blocks.map(asBlock);
  judgeIds(read);
  for (const block of read) {
    if (block['type'] === 'markdown') words.push(demandWords(block['text'], MAX_MARKDOWN_CHARS));
    else if (block['type'] === 'section') words.push(textObject(block['text']));
    else if (block['type'] === 'context') notes.push(elementsOf(block).map(textObject).join(' '));
    else if (block['type'] === 'actions' || block['type'] === 'context_actions') judgeButtons(block);
    else if (block['type'] !== 'divider') throw new SlackFault('invalid_blocks');
  }
  const markdown = words.join('\n\n');
  if (markdown.length > MAX_MARKDOWN_CHARS) throw new SlackFault('msg_blocks_too_long');
  return { markdown, note: notes.join('\n'), blocks: read };
}

/** @throws SlackFault `invalid_blocks` for an id that is not a string, is too long, or occurs twice */
function judgeIds(blocks: readonly SlackBlock[]): void {
  const ids = blocks.flatMap(({ block_id: id }) => (id === undefined ? [] : [id]));
  const isId = (id: unknown) => typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARS;
  if (!ids.every(isId) || new Set(ids).size < ids.length) throw new SlackFault('invalid_blocks');
}

function elementsOf({ elements }: CallArguments): unknown[] {
  if (!Array.isArray(elements) || elements.length === 0 || elements.length > MAX_ELEMENTS)
    throw new SlackFault('invalid_blocks');
  return elements;
}

/** `plain_text` is shown unchanged, `mrkdwn` is Slack's own markup. */
function textObject(value: unknown): string {
  const { type, text } = asBlock(value);
  if (type !== 'plain_text' && type !== 'mrkdwn') throw new SlackFault('invalid_blocks');
  const words = demandWords(text, MAX_TEXT_CHARS);
  return type === 'mrkdwn' ? markdownOfMrkdwn(words) : words;
}

function demandWords(value: unknown, maxChars: number): string {
  if (typeof value !== 'string' || value === '') throw new SlackFault('invalid_blocks');
  if (value.length > maxChars) throw new SlackFault('msg_blocks_too_long');
  return value;
}

function asBlock(value: unknown): CallArguments {
  return asObject(value, 'invalid_blocks');
}
