import { cutMarkdown, fittingChars, type MarkdownPiece } from '../cut-markdown.ts';
import type { ReplyView } from '../platform.ts';
import { neutralise, neutralisePlain } from './neutralise.ts';

/** The most that one stream answer or one later reply may hold, in UTF-8 bytes. */
export const MAX_REPLY_BYTES = 20_480;
/** A status is a line, not an answer. */
const MAX_STATUS_BYTES = 1_024;

/**
 * One look of a reply as WeCom shows it. The status stands in the thinking block, so that the text stays the model's
 * alone; a finished reply without text shows its status as text, since somebody waits for an answer.
 */
export function renderReply({ text, status, finished }: ReplyView): string {
  const shown = neutralise(text);
  const line = status === undefined ? '' : renderPlain(status, MAX_STATUS_BYTES).trim();
  if (shown.trim() === '') return finished || line === '' ? line : thinking(line);
  const block = line === '' ? '' : `${thinking(line)}\n`;
  return block + head(shown, MAX_REPLY_BYTES - Buffer.byteLength(block));
}

/** Cuts a finished text into messages of at most `MAX_REPLY_BYTES`, already neutralised; blank pieces are left out. */
export function splitReply(text: string, reserveBytes = 0): string[] {
  const shown = neutralise(text);
  const maxBytes = MAX_REPLY_BYTES - reserveBytes;
  if (Buffer.byteLength(shown) <= maxBytes) return [shown];
  const pieces = [...cutMarkdown(shown, maxBytes)].map(joined);
  return pieces.filter((piece) => piece.trim() !== '');
}

/** A text without markdown (a welcome, a status, a notice), neutralised and cut at a character. */
export function renderPlain(text: string, maxBytes: number): string {
  const shown = neutralisePlain(text);
  if (Buffer.byteLength(shown) <= maxBytes) return shown;
  // Cutting can lay a mark bare once more (`@all|ocate`); altering it takes two bytes.
  return neutralisePlain(shown.slice(0, fittingChars(shown, maxBytes - 2)));
}

function thinking(line: string): string {
  return `<think>${line}</think>`;
}

function head(text: string, maxBytes: number): string {
  for (const piece of cutMarkdown(text, maxBytes)) return joined(piece);
  return '';
}

function joined({ prefix, body, suffix }: MarkdownPiece): string {
  return prefix + body + suffix;
}
