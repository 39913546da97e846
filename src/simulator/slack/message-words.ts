import { asObject, textOf, type CallArguments, type SlackBlock } from './call-arguments.ts';
import { MAX_MARKDOWN_CHARS, readBlocks, type BlockContent } from './read-blocks.ts';
import { SlackFault } from './slack-fault.ts';
import { markdownOfMrkdwn } from './written-text.ts';

/** Maximum characters of `text`, for a post and for an edit (PLATFORM_FACTS.md slack-web-api). */
const MAX_TEXT_CHARS = 40_000;
const MAX_EDITED_TEXT_CHARS = 4_000;

/**
 * The text of a message. With blocks, `text` is only the notification text. Without blocks, an edit keeps the message's
 * existing blocks unless `markdown_text` replaces everything.
 * @throws SlackFault `no_text`, `msg_too_long`, `markdown_text_conflict`, `invalid_blocks`, `msg_blocks_too_long`
 */
export function readMessageContent(args: CallArguments, kind: 'post' | 'edit'): BlockContent {
  const markdown = textOf(args, 'markdown_text');
  const text = textOf(args, 'text');
  const blocks = readBlocks(args);
  if (markdown !== undefined && (text !== undefined || blocks)) throw new SlackFault('markdown_text_conflict');
  const words = markdown ?? text;
  if (words === undefined && !blocks) throw new SlackFault('no_text');
  const maxChars =
    markdown !== undefined ? MAX_MARKDOWN_CHARS : kind === 'edit' ? MAX_EDITED_TEXT_CHARS : MAX_TEXT_CHARS;
  if ((words ?? '').length > maxChars) throw new SlackFault('msg_too_long');
  // An empty list removes the blocks, and `text` becomes the content.
  if (blocks?.blocks?.length === 0) return { markdown: markdownOfMrkdwn(text ?? ''), note: '', blocks: [] };
  if (blocks) return blocks;
  return markdown === undefined
    ? { markdown: markdownOfMrkdwn(text ?? ''), note: '' }
    : { markdown, note: '', blocks: [] };
}

/**
 * Text that a streaming call appends: `markdown_text`, or the markdown of its `chunks`. Tasks and plans are not shown here.
 * @throws SlackFault `invalid_arguments`, `msg_too_long`
 */
export function streamText(args: CallArguments): string {
  const { chunks = [] } = args;
  if (!Array.isArray(chunks)) throw new SlackFault('invalid_arguments');
  const added = (textOf(args, 'markdown_text') ?? '') + chunks.map(markdownOfChunk).join('');
  if (added.length > MAX_MARKDOWN_CHARS) throw new SlackFault('msg_too_long');
  return added;
}

/** Blocks among a streaming call's `chunks`; only their buttons are shown. @throws SlackFault like `readBlocks` */
export function streamBlocks({ chunks = [] }: CallArguments): SlackBlock[] {
  if (!Array.isArray(chunks)) throw new SlackFault('invalid_arguments');
  return chunks
    .map((chunk) => asObject(chunk))
    .flatMap(({ type, blocks }) => (type === 'blocks' ? [...(readBlocks({ blocks })?.blocks ?? [])] : []));
}

/** Final content of a stream: text, followed by the text of its blocks. @throws SlackFault like both */
export function streamEnd(args: CallArguments): BlockContent {
  const { markdown, note, blocks = [] } = readBlocks(args) ?? { markdown: '', note: '' };
  return { markdown: streamText(args) + markdown, note, blocks: [...streamBlocks(args), ...blocks] };
}

function markdownOfChunk(chunk: unknown): string {
  const { type, text } = asObject(chunk);
  if (type === 'markdown_text' && typeof text === 'string') return text;
  if (type === 'task_update' || type === 'plan_update' || type === 'blocks') return '';
  throw new SlackFault('invalid_arguments');
}
