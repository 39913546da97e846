import { fittingChars } from '../markdown/cut-text.ts';
import { createMarkdownWriter } from '../markdown/markdown-writer.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { createSplitter } from '../split-answer.ts';
import { safePlainText, WECOM_DIALECT } from './dialect.ts';

/** Maximum size of one stream answer or one later reply, in UTF-8 bytes. */
export const MAX_REPLY_BYTES = 20_480;
/** Maximum size of a status, which is a single line. */
const MAX_STATUS_BYTES = 1_024;
/** Maximum size of the reasoning. Only its newest part is shown, so that a snapshot stays small. */
const MAX_THOUGHT_BYTES = 4_096;
const MIN_THOUGHT_BYTES = 256;
const NEUTRALISING_ROOM_BYTES = 128;
const BLOCK_MARKS_BYTES = Buffer.byteLength('<think></think>\n') + 2;

/**
 * Prefix of each notice in the thinking block, the only place outside the text. It distinguishes a notice such as "Stopped."
 * from the model's reasoning, for people and for the code that renders the block.
 */
const NOTICE_MARK = 'ℹ️ ';

const writer = createMarkdownWriter(WECOM_DIALECT);

/**
 * Renders one snapshot of a reply. Status and reasoning are in the thinking block, so that the text is the model's alone.
 * While the reply grows, the current status comes last. When it is finished the block is collapsed, so the notice comes
 * first. A finished reply without text shows its status as text, because a person waits for an answer.
 */
export function renderReply({ text, status, thinking, finished }: ReplyView): string {
  // A tool's status contains the model's words, so links in it are treated like links in a text.
  const line = writer.renderFinished(status ?? '', MAX_STATUS_BYTES).trim();
  const notice = line === '' ? '' : renderPlain(line.replace(/^\n*/gm, NOTICE_MARK), MAX_STATUS_BYTES).trim();
  const textRoomBytes = MAX_REPLY_BYTES - (notice === '' ? 0 : Buffer.byteLength(blockOf([notice])));
  const shown = finished ? writer.renderFinished(text, textRoomBytes) : writer.renderGrowing(text, textRoomBytes);
  const fitting = shown.trim() === '' ? '' : shown;
  if (fitting === '' && finished) return renderPlain(line, MAX_STATUS_BYTES);
  // The reasoning gets the room that the text leaves.
  const thought = thoughtWithin(thinking ?? '', textRoomBytes - Buffer.byteLength(fitting) - BLOCK_MARKS_BYTES);
  const parts = finished ? [notice, thought] : [thought, notice];
  const block = blockOf(parts.filter((part) => part !== ''));
  return fitting === '' ? block.trimEnd() : block + fitting;
}

export const { splitReply, splitAnswer } = createSplitter(writer, 'wecom', MAX_REPLY_BYTES);

/** Renders a text without markdown (a welcome, a status, a notice), neutralised and cut between characters. */
export function renderPlain(text: string, maxBytes: number): string {
  const shown = safePlainText(text);
  if (Buffer.byteLength(shown) <= maxBytes) return shown;
  // Cutting can expose a mention again (`@all|ocate`); neutralising it takes two bytes.
  return safePlainText(shown.slice(0, fittingChars(shown, maxBytes - 2)));
}

/** WeCom's thinking block, which must come first. Text that imitates one has already been neutralised. */
function blockOf(parts: string[]): string {
  return parts.length === 0 ? '' : `<think>${parts.join('\n\n')}</think>\n`;
}

/** The newest part of the reasoning that fits, neutralised like any text. None of its lines can imitate a notice. */
function thoughtWithin(thought: string, roomBytes: number): string {
  const maxBytes = Math.min(MAX_THOUGHT_BYTES, roomBytes);
  if (thought.trim() === '' || maxBytes < MIN_THOUGHT_BYTES) return '';
  // Neutralising may add bytes; excess is cut at the end.
  const newest = newestBytes(thought, maxBytes - NEUTRALISING_ROOM_BYTES);
  return renderPlain(writer.renderFinished(newest, maxBytes), maxBytes).replaceAll(NOTICE_MARK.trim(), 'ℹ').trim();
}

function newestBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  // Do not start within a character, whose further bytes begin with the bits 10.
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return `…${bytes.subarray(start).toString()}`;
}
