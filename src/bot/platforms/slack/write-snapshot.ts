import { withoutUnseen } from '../../../shared/text/sanitize-text.ts';
import { alterMarks } from '../markdown/alter-marks.ts';
import type { ReplySnapshot } from '../../domain/reply.ts';
import { SLACK_DIALECT } from './dialect.ts';
import { offerBlocks } from './offers.ts';
import { renderReply } from './render-reply.ts';

/** `text` beside blocks is what a notification and a screen reader get; over 4,000 characters an edit is refused (PLATFORM_FACTS.md slack-web-api). */
const MAX_NOTIFIED_CHARS = 3_900;
/** A text of a block takes 3,000 characters; a note is a few lines. */
const MAX_NOTE_CHARS = 2_000;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Slack's answers when it is the blocks that it does not take; nothing was done. */
const BLOCKS_REFUSED: ReadonlySet<string> = new Set([
  'block_mismatch',
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
]);

/** What a snapshot says: its text, what is said about it, and whether it is an answer's last. */
export type Words = Pick<ReplySnapshot, 'content' | 'note' | 'offers' | 'ends'>;

/**
 * The arguments with which `chat.postMessage` and `chat.update` show a snapshot: its text as a block of its own and the note
 * below it, apart. `markdown_text` may not stand beside blocks, so it is for snapshots without a note.
 */
export function wholeSnapshot(words: Words): object {
  return blocksBelow(words).length === 0 ? { markdown_text: words.content } : blocksOf(words);
}

/** The same where there is no `markdown_text`. */
export function blocksOf(words: Words): object {
  const { content } = words;
  return { text: notifiedText(content), blocks: [{ type: 'markdown', text: content }, ...blocksBelow(words)] };
}

/** What `chat.stopStream` shows below a streamed text. */
export function belowStream(words: Words): { blocks?: object[] } {
  const blocks = blocksBelow(words);
  return { blocks: blocks.length === 0 ? undefined : blocks };
}

/** What stands below the text: the note, and what may be pressed. */
function blocksBelow({ note, offers }: Words): object[] {
  return [...noteBlocks(note), ...offerBlocks(offers)];
}

/** Whether a snapshot was refused for what stands below its text: then the note goes into the text, so that neither is lost. */
export function areBlocksRefused(error: string, words: Words): boolean {
  return blocksBelow(words).length > 0 && BLOCKS_REFUSED.has(error);
}

/** The same snapshot as text alone, with its note as the last lines and nothing to press. */
export function asTextAlone<Look extends Words>({
  note,
  offers: _offers,
  ...snapshot
}: Look): Omit<Look, 'note' | 'offers'> & { content: string } {
  const last = renderReply({ text: note ?? '', finished: true });
  return { ...snapshot, content: [snapshot.content, last].filter((part) => part !== '').join('\n\n') };
}

/** A text of `chat.postMessage`; Slack cuts what is longer. */
const MAX_TEXT_CHARS = 40_000;

/** A snapshot as nothing but escaped text: what every Slack takes, shown with its marks. */
export function plainText(words: Words): string {
  return escapedText(asTextAlone(words).content, MAX_TEXT_CHARS);
}

/** Plain text: nothing in a note is markup, so no name in it calls, links or decorates. */
function noteBlocks(note = ''): object[] {
  const text = cutTo(alterMarks(withoutUnseen(note), SLACK_DIALECT).trim(), MAX_NOTE_CHARS);
  return text === '' ? [] : [{ type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] }];
}

/** `text` is Slack's own markup: its three signs are escaped, and an entity is never cut. */
function notifiedText(content: string): string {
  return escapedText(content, MAX_NOTIFIED_CHARS);
}

function escapedText(content: string, maxChars: number): string {
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
