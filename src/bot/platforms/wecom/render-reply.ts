import { fittingChars } from '../markdown/cut-text.ts';
import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { isLongAnswer, splitInThread } from '../split-answer.ts';
import { safePlainText, WECOM_DIALECT } from './dialect.ts';

/** The most that one stream answer or one later reply may hold, in UTF-8 bytes. */
export const MAX_REPLY_BYTES = 20_480;
/** A status is a line, not an answer. */
const MAX_STATUS_BYTES = 1_024;
/** Of a thought its newest part is shown, so that a snapshot stays small however long the model thinks. */
const MAX_THOUGHT_BYTES = 4_096;
const LEAST_THOUGHT_BYTES = 256;
const NEUTRALISING_ROOM_BYTES = 128;
const BLOCK_MARKS_BYTES = Buffer.byteLength('<think></think>\n') + 2;

/**
 * Begins each line of ours in the thinking block, the only place beside the text: people, and whoever draws the block, must tell
 * "Stopped." from what the model thought.
 */
const NOTICE_MARK = 'ℹ️ ';

const writer = createMarkdownWriter(WECOM_DIALECT);

/**
 * One snapshot of a reply as WeCom shows it. Status and thought stand in the thinking block, so that the text stays the model's
 * alone: while it grows what goes on now comes last, and once it is finished what is said about it comes first, since there the
 * block is folded. A finished reply without text shows its status as text, since somebody waits for an answer.
 */
export function renderReply({ text, status, thinking, finished }: ReplyView): string {
  // What a tool is doing is told in the model's words: a link in them is written like one in a text.
  const line = writer.finished(status ?? '', MAX_STATUS_BYTES).trim();
  const notice = line === '' ? '' : renderPlain(line.replace(/^\n*/gm, NOTICE_MARK), MAX_STATUS_BYTES).trim();
  const textRoomBytes = MAX_REPLY_BYTES - (notice === '' ? 0 : Buffer.byteLength(blockOf([notice])));
  const shown = finished ? writer.finished(text, textRoomBytes) : writer.growing(text, textRoomBytes);
  const fitting = shown.trim() === '' ? '' : shown;
  if (fitting === '' && finished) return renderPlain(line, MAX_STATUS_BYTES);
  // The thought gets the room that the text leaves.
  const thought = thoughtWithin(thinking ?? '', textRoomBytes - Buffer.byteLength(fitting) - BLOCK_MARKS_BYTES);
  const parts = finished ? [notice, thought] : [thought, notice];
  const block = blockOf(parts.filter((part) => part !== ''));
  return fitting === '' ? block.trimEnd() : block + fitting;
}

/** Cuts a finished text into messages of at most `MAX_REPLY_BYTES`, already neutralised; blank pieces are left out. */
export function splitReply(text: string, reserveBytes = 0): string[] {
  return writer.pieces(text, MAX_REPLY_BYTES - reserveBytes);
}

/** The same for an answer of any length; what is long is cut in a thread. */
export async function splitAnswer(text: string, reserveBytes = 0): Promise<string[]> {
  if (!isLongAnswer(text, MAX_REPLY_BYTES)) return splitReply(text, reserveBytes);
  return splitInThread(writer, { dialect: 'wecom', text, maxBytes: MAX_REPLY_BYTES - reserveBytes });
}

/** A text without markdown (a welcome, a status, a notice), neutralised and cut at a character. */
export function renderPlain(text: string, maxBytes: number): string {
  const shown = safePlainText(text);
  if (Buffer.byteLength(shown) <= maxBytes) return shown;
  // Cutting can lay a mark bare once more (`@all|ocate`); altering it takes two bytes.
  return safePlainText(shown.slice(0, fittingChars(shown, maxBytes - 2)));
}

/** WeCom's thinking block, which must come first; a text that poses as one was altered before. */
function blockOf(parts: string[]): string {
  return parts.length === 0 ? '' : `<think>${parts.join('\n\n')}</think>\n`;
}

/** The newest part of a thought that fits, neutralised like any text; no line of it poses as one of ours. */
function thoughtWithin(thought: string, roomBytes: number): string {
  const maxBytes = Math.min(MAX_THOUGHT_BYTES, roomBytes);
  if (thought.trim() === '' || maxBytes < LEAST_THOUGHT_BYTES) return '';
  // Neutralising may add bytes; what is too much then is cut off at its end.
  const newest = newestBytes(thought, maxBytes - NEUTRALISING_ROOM_BYTES);
  return renderPlain(writer.finished(newest, maxBytes), maxBytes).replaceAll(NOTICE_MARK.trim(), 'ℹ').trim();
}

function newestBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  // Not from within a character: its further bytes begin with the bits 10.
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return `…${bytes.subarray(start).toString()}`;
}
