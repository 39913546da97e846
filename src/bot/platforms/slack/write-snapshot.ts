import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { neutraliseMentions } from '../markdown/alter-marks.ts';
import type { ReplySnapshot } from '../../domain/reply.ts';
import { SLACK_DIALECT } from './dialect.ts';
import { offerBlocks } from './offers.ts';
import { renderReply } from './render-reply.ts';

/**
 * Maximum characters of `text` next to blocks, which notifications and screen readers use. Slack refuses an edit over 4,000
 * (PLATFORM_FACTS.md slack-web-api).
 */
const MAX_NOTIFIED_CHARS = 3_900;
/** Slack allows 3,000 characters per block text; a note has a few lines. */
const MAX_NOTE_CHARS = 2_000;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const ESCAPED = /[&<>]/;
/** Slack's errors for refused blocks; nothing was done. */
const BLOCKS_REFUSED: ReadonlySet<string> = new Set([
  'block_mismatch',
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
]);

/** Content of a snapshot: its text, note and buttons, and whether it is the final one. */
export type SnapshotContent = Pick<ReplySnapshot, 'content' | 'note' | 'offers' | 'ends'>;

/** A snapshot as arguments of a call: one text, or blocks and the text for notifications. */
export interface SlackContent {
  markdown_text?: string;
  text?: string;
  blocks?: object[];
}

/**
 * Arguments of `chat.postMessage` and `chat.update` for a snapshot: its text as one block and the note below it as another.
 * Slack does not allow `markdown_text` next to blocks, so it is used for snapshots without a note.
 */
export function wholeSnapshot(words: SnapshotContent): SlackContent {
  return blocksBelow(words).length === 0 ? { markdown_text: words.content } : blocksOf(words);
}

/** Like `wholeSnapshot`, for calls that do not use `markdown_text`. */
export function blocksOf(words: SnapshotContent): SlackContent {
  const { content } = words;
  return { text: notifiedText(content), blocks: [{ type: 'markdown', text: content }, ...blocksBelow(words)] };
}

/** Blocks that `chat.stopStream` shows below a streamed text. */
export function belowStream(words: SnapshotContent): { blocks?: object[] } {
  const blocks = blocksBelow(words);
  return { blocks: blocks.length === 0 ? undefined : blocks };
}

/** Blocks below the text: the note and the buttons. */
function blocksBelow({ note, offers }: SnapshotContent): object[] {
  return [...noteBlocks(note), ...offerBlocks(offers)];
}

/**
 * Whether a snapshot was refused because of the blocks below its text. The note then moves into the text, so that neither is
 * lost.
 */
export function areBlocksRefused(error: string, words: SnapshotContent): boolean {
  return blocksBelow(words).length > 0 && BLOCKS_REFUSED.has(error);
}

/** The snapshot as text only: the note becomes its last lines, and there are no buttons. */
export function toTextOnly<Look extends SnapshotContent>({
  note,
  offers: _offers,
  ...snapshot
}: Look): Omit<Look, 'note' | 'offers'> & { content: string } {
  const last = renderReply({ text: note ?? '', finished: true });
  return { ...snapshot, content: [snapshot.content, last].filter((part) => part !== '').join('\n\n') };
}

/** Maximum characters of a text in `chat.postMessage`; Slack cuts a longer one. */
const MAX_TEXT_CHARS = 40_000;

/** The snapshot as escaped plain text, which every Slack workspace accepts. Its markdown characters stay visible. */
export function plainText(words: SnapshotContent): string {
  return escapedText(toTextOnly(words).content, MAX_TEXT_CHARS);
}

/** The note as plain text, so that no name in it becomes a mention, a link or formatting. */
function noteBlocks(note = ''): object[] {
  const text = cutTo(neutraliseMentions(stripInvisible(note), SLACK_DIALECT).trim(), MAX_NOTE_CHARS);
  return text === '' ? [] : [{ type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] }];
}

/** `text` is Slack's own markup: its three special characters are escaped, and an entity is never cut. */
function notifiedText(content: string): string {
  return escapedText(content, MAX_NOTIFIED_CHARS);
}

function escapedText(content: string, maxChars: number): string {
  if (content.length <= maxChars && !ESCAPED.test(content)) return content;
  return cutTo(content, maxChars, (letter) => ENTITIES[letter] ?? letter);
}

function cutTo(text: string, maxChars: number, written = (letter: string) => letter): string {
  let kept = '';
  for (const letter of text) {
    const next = written(letter);
    if (kept.length + next.length > maxChars) break;
    kept += next;
  }
  return kept;
}
